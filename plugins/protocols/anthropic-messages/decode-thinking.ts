/** What a client wants of thinking. Not to think is what a request asks for that does not speak of it. */
import { type ChatRequest, type JsonValue, numberOrNull, objectAt } from '../../../engine/plugin.ts';

type Thinking = Pick<ChatRequest, 'reasoningBudget' | 'reasoningShown'>;

export function decodeThinking(value: JsonValue | undefined): Thinking {
  if (value === undefined || value === null) return { reasoningBudget: null, reasoningShown: null };
  const thinking = objectAt(value, 'thinking');
  const reasoningBudget =
    thinking.type === 'enabled' ? numberOrNull(thinking.budget_tokens, 'thinking.budget_tokens') : null;
  const thinks = thinking.type === 'enabled' || thinking.type === 'adaptive';
  return { reasoningBudget, reasoningShown: thinks ? thinking.display !== 'omitted' : null };
}
