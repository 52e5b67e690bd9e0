import type { InputUsage } from './measure.ts';

/** A block of an answer, with the pieces a stream sends of it. */
export type OutputBlock =
  | { readonly type: 'thinking'; readonly text: string; readonly pieces: readonly string[]; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string; readonly pieces: readonly string[] }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

export interface Ending {
  readonly reason: 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal';
  /** The stop sequence that was met. */
  readonly sequence: string | null;
  readonly details: object | null;
}

/** What a model made, before it is written whole or as a stream. */
export interface Outcome {
  readonly model: string;
  readonly blocks: readonly OutputBlock[];
  readonly ending: Ending;
  readonly input: InputUsage;
  /** Thoughts included. */
  readonly outputTokens: number;
  readonly thinkingTokens: number;
  /** Milliseconds between two events. */
  readonly delay: number;
}
