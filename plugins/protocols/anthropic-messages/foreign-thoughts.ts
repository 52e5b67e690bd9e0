/**
 * A model that several vendors serve may have thought at one of another protocol before. What that one said, unsigned or
 * signed in its own way, a vendor of messages refuses: it is left out, the one thing a relay changes but the model.
 */
import { isObject, type JsonValue, ownSignature, signatureOf } from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

/** The messages without them; null where there are none. `body` is the same as bytes. */
export function withoutForeignThoughts(body: Buffer, messages: JsonValue | undefined): JsonValue[] | null {
  if (!body.includes('"thinking"') || !Array.isArray(messages)) return null;
  let isChanged = false;
  const kept = messages.map((message) => {
    if (!isObject(message) || !Array.isArray(message.content)) return message;
    const content = message.content.filter((block) => !isForeign(block));
    if (content.length === message.content.length) return message;
    isChanged = true;
    return { ...message, content };
  });
  return isChanged ? kept : null;
}

function isForeign(block: JsonValue): boolean {
  if (!isObject(block) || block.type !== 'thinking' || typeof block.signature !== 'string') return false;
  return block.signature === '' || ownSignature(protocolName, signatureOf(protocolName, block.signature)) === null;
}
