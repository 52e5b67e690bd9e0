/**
 * A model that several vendors serve may have thought at one of another protocol before. What that one said, unsigned or
 * signed in its own way, a vendor of messages refuses: it is left out, the one thing a relay changes but the model. A
 * loop of tool calls that thus begins without a thought goes on without: to think in it is refused too.
 */
import { isObject, type JsonObject, type JsonValue, ownSignature, signatureOf } from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

/** Members of the body to write anew; null where it passes as it came. `bytes` is the body as such. */
export function withoutForeignThoughts(bytes: Buffer, { messages, thinking }: JsonObject): JsonObject | null {
  if (!Array.isArray(messages)) return null;
  const kept = bytes.includes('"thinking"') ? messages.flatMap(withoutForeign) : messages;
  const stops = isObject(thinking) && thinking.type === 'enabled' && beganWithoutThought(kept);
  const rest = isSame(kept, messages) ? null : { messages: kept };
  return stops ? { ...rest, thinking: { type: 'disabled' } } : rest;
}

const isSame = (kept: readonly JsonValue[], given: readonly JsonValue[]): boolean =>
  kept.length === given.length && kept.every((one, index) => one === given[index]);

/** A turn of nothing else is left out whole. */
function withoutForeign(message: JsonValue): JsonValue[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message];
  const content = message.content.filter((block) => !isForeign(block));
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [{ ...message, content }];
}

function isForeign(block: JsonValue): boolean {
  if (!isObject(block) || block.type !== 'thinking' || typeof block.signature !== 'string') return false;
  return block.signature === '' || ownSignature(protocolName, signatureOf(protocolName, block.signature)) === null;
}

const holds = (message: JsonValue | undefined, type: string): boolean =>
  isObject(message) &&
  Array.isArray(message.content) &&
  message.content.some((block) => isObject(block) && block.type === type);

/** The assistant's turn whose calls are answered last begins with something else. */
function beganWithoutThought(messages: readonly JsonValue[]): boolean {
  if (!holds(messages.at(-1), 'tool_result')) return false;
  const turn = messages.findLast((message) => isObject(message) && message.role === 'assistant');
  if (!isObject(turn) || !Array.isArray(turn.content)) return false;
  const [first] = turn.content;
  return !isObject(first) || (first.type !== 'thinking' && first.type !== 'redacted_thinking');
}
