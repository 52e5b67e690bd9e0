/** Counting where a vendor does not: four characters are about one token. */
import { isObject, type JsonValue } from '../../../engine/plugin.ts';

/** Characters in what a whole answer says. */
export function answerLength(content: readonly JsonValue[]): number {
  let sum = 0;
  for (const block of content) {
    if (!isObject(block)) continue;
    for (const said of [block.text, block.thinking]) if (typeof said === 'string') sum += said.length;
    if (isObject(block.input)) sum += JSON.stringify(block.input).length;
  }
  return sum;
}

/** Tokens of a conversation; pictures and files, whose bytes say nothing of their tokens, count little. */
export function estimateInput(body: JsonValue | undefined): number {
  return Math.ceil(charactersIn(body) / 4);
}

function charactersIn(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + charactersIn(one), 0);
  if (!isObject(value)) return 1;
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + (name === 'data' ? Math.min(4000, charactersIn(one)) : name.length + charactersIn(one)),
    0,
  );
}
