/** How much a model is to think, and what does not go together with that. */
import { type ChatRequest, type JsonObject, type JsonValue, present } from '../../../engine/plugin.ts';
import type { Conversation } from './encode-messages.ts';

/** `claude-3-7-sonnet-…`, `claude-opus-4-20250514`, `anthropic.claude-haiku-4-5-…`: an earlier line has its number first. */
const version = /claude-(?:(?:opus|sonnet|haiku)-)?(\d)(?:[-.](\d)(?!\d))?/;

/** Older models do not think, later ones take a budget of tokens, and those since 4.6 and unknown ones an effort. */
function waysOf(vendorModel: string): 'none' | 'budget' | 'effort' {
  const [, major, minor = '0'] = version.exec(vendorModel) ?? [];
  if (major === undefined) return 'effort';
  const number = Number(`${major}.${minor}`);
  return number < 3.7 ? 'none' : number < 4.6 ? 'budget' : 'effort';
}

const leastBudget = 1024;
const leftForAnswer = 4096;
const budgets: Readonly<Record<string, number>> = { minimal: 1024, low: 1024, medium: 4096, high: 16384 };
const largestBudget = 32768;

/** `thinking` and `output_config.effort`; both null where the model decides. */
export interface ThinkingPlan {
  readonly thinking: JsonObject | null;
  readonly effort: string | null;
  readonly maxTokens: number;
}

/** `limit` the client's bound on output tokens, or null; `usual` what is asked for where there is none. */
export function planThinking(
  request: ChatRequest,
  vendorModel: string,
  { messages }: Conversation,
  usual: number,
): ThinkingPlan {
  const limit = request.maxOutputTokens;
  const plan = { thinking: null, effort: null, maxTokens: limit ?? usual };
  const { reasoningEffort, reasoningBudget } = request;
  const ways = waysOf(vendorModel);
  const isUnsaid = reasoningEffort === null && (reasoningBudget === null || reasoningBudget < 0);
  if (isUnsaid || ways === 'none') return plan;
  if (reasoningEffort === 'none' || (reasoningEffort === null && reasoningBudget === 0))
    return { ...plan, thinking: { type: 'disabled' } };
  // A tool that must be called leaves no room for thoughts.
  const isForced = request.toolChoice === 'required' || typeof (request.toolChoice ?? 'auto') === 'object';
  const display = request.reasoningShown === false ? 'omitted' : null;
  if (ways === 'effort') {
    const effort = effortOf(request);
    return { ...plan, effort, thinking: isForced ? null : { type: 'adaptive', ...present({ display }) } };
  }
  if (isForced || beganWithoutThought(messages)) return plan;
  const wanted = Math.max(leastBudget, reasoningBudget ?? budgetOf(reasoningEffort!));
  const maxTokens = limit ?? Math.max(usual, wanted + leftForAnswer);
  const budget = Math.min(wanted, maxTokens - 1);
  if (budget < leastBudget) return plan;
  return { effort: null, maxTokens, thinking: { type: 'enabled', budget_tokens: budget, ...present({ display }) } };
}

const budgetOf = (effort: string): number => (Object.hasOwn(budgets, effort) ? budgets[effort]! : largestBudget);

function effortOf({ reasoningEffort, reasoningBudget }: ChatRequest): string {
  if (reasoningEffort !== null) return reasoningEffort === 'minimal' ? 'low' : reasoningEffort;
  if (reasoningBudget! <= 2048) return 'low';
  return reasoningBudget! <= 8192 ? 'medium' : 'high';
}

/** A loop of tool calls that began without a thought of this vendor's must go on without. */
function beganWithoutThought(messages: Conversation['messages']): boolean {
  const open = messages.findLast(({ role }) => role === 'assistant');
  const isLoop = messages.at(-1)?.content.some(({ type }) => type === 'tool_result') ?? false;
  if (open === undefined || (!isLoop && messages.at(-1) !== open)) return false;
  const begins = open.content[0]?.type;
  return begins !== 'thinking' && begins !== 'redacted_thinking';
}

/**
 * What of sampling can be said: the temperature ends at 1 here, of temperature and `top_p` newer models take only one,
 * and thoughts leave little to say.
 */
export function encodeSampling(request: ChatRequest, plan: ThinkingPlan): Record<string, JsonValue> {
  const { temperature, topP, topK } = request;
  const clamped = temperature === null ? null : Math.min(1, Math.max(0, temperature));
  const thinks = plan.thinking !== null && plan.thinking.type !== 'disabled';
  if (thinks) return { top_p: topP !== null && topP >= 0.95 ? topP : null };
  // 1 is what both are anyway.
  const saysTemperature = clamped !== null && !(clamped === 1 && topP !== null);
  return { temperature: saysTemperature ? clamped : null, top_p: saysTemperature ? null : topP, top_k: topK };
}
