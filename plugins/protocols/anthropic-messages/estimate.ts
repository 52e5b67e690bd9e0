/** How much a whole answer says, for where its usage is not told. */
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
