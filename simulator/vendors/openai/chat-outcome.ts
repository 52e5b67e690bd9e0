import type { ReplyText } from '../../reply-text.ts';
import type { Steering } from '../../steering.ts';

export interface ToolCall {
  readonly id: string;
  readonly type: 'function' | 'custom';
  readonly name: string;
  /** JSON text of a function's arguments, or a custom tool's free input. */
  readonly input: string;
}

export interface ChatOutcome {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly serviceTier: string;
  readonly copies: number;
  readonly reply: ReplyText;
  readonly calls: readonly ToolCall[];
  /** Whether the one call is a `function_call`, as there was before tools. */
  readonly legacy: boolean;
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'function_call';
  readonly usage: unknown;
  readonly logprobs: boolean;
  readonly steering: Steering;
}
