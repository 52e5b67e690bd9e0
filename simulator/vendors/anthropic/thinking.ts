import { anything, type Check, choice, first, integer, nullable, object, tagged } from './checks.ts';
import type { ModelFacts } from './models.ts';
import { forces, type ToolChoice } from './tools.ts';
import type { Turn } from './turns.ts';

const DISPLAY = nullable(choice('summarized', 'omitted'));
const LEAST_BUDGET = 1024;

export const THINKING: Check = tagged({
  enabled: object({ type: anything, budget_tokens: integer(LEAST_BUDGET), display: DISPLAY }, ['budget_tokens']),
  adaptive: object({ type: anything, display: DISPLAY }),
  between_tools: object({ type: anything }),
  disabled: object({ type: anything }),
});

export interface Thinking {
  readonly type: 'enabled' | 'adaptive' | 'between_tools' | 'disabled';
  readonly budget_tokens?: number;
  readonly display?: 'summarized' | 'omitted' | null;
}

/** What of a request has to do with thinking. */
interface ThinkingRequest {
  readonly max_tokens?: number;
  readonly thinking?: Thinking;
  readonly output_config?: { effort?: string | null };
  readonly tool_choice?: ToolChoice;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
}

/** What thinking does not go together with: the model, the limit, the sampling, forced tools, and a history without it. */
export function checkThinking(request: ThinkingRequest, turns: readonly Turn[], model: ModelFacts): string | undefined {
  const { thinking, output_config: output } = request;
  if (output?.effort && !model.effort) return 'This model does not support the effort parameter.';
  if (!thinking) return undefined;
  if (!model.thinking.includes(thinking.type)) return `${thinking.type} thinking is not supported on this model`;
  if (thinking.type !== 'enabled' && thinking.type !== 'adaptive') return undefined;
  const { budget_tokens: budget, type } = thinking;
  if (budget !== undefined && request.max_tokens !== undefined && request.max_tokens <= budget)
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  if (forces(request.tool_choice)) return 'Thinking may not be enabled when tool_choice forces tool use.';
  return checkSampling(request) ?? (type === 'enabled' ? checkHistory(turns) : undefined);
}

function checkSampling({ temperature = 1, top_k, top_p = 1 }: ThinkingRequest): string | undefined {
  if (temperature !== 1) return '`temperature` may only be set to 1 when thinking is enabled.';
  if (top_k !== undefined) return '`top_k` must be unset when thinking is enabled.';
  return top_p < 0.95 ? '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.' : undefined;
}

/** A loop of tool calls that has not ended must have begun each turn with a thought. */
function checkHistory(turns: readonly Turn[]): string | undefined {
  const end = turns.findLast(({ role }) => role !== 'system');
  const open = turns.findLast(({ role }) => role === 'assistant');
  const answered = end?.role === 'user' && end.blocks.some(({ type }) => type === 'tool_result');
  if (!open || (end !== open && !answered)) return undefined;
  return first(open.blocks.slice(0, 1), ({ type }) => {
    if (type === 'thinking' || type === 'redacted_thinking') return undefined;
    return `messages.${open.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceding the last set of \`tool_use\` and \`tool_result\` blocks).`;
  });
}
