/**
 * A model that several vendors serve may have thought and called at one of another protocol before. Signatures that are
 * not Gemini's it refuses, and calls that nobody signed too: the one thing a relay changes in a conversation.
 */
import { isObject, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';
import { listOf, messageAt } from './fields.ts';
import { isSigning } from './generation.ts';
import { geminiSignature, readSignature, unsigned } from './signature.ts';

/** The contents as a vendor takes them; null where nothing in them needs a change. */
export function ownContents(contents: JsonValue | undefined, vendorModel: string): JsonValue[] | null {
  const given = listOf(contents);
  const own = given.map((content) => (isObject(content) && content.role === 'model' ? ownTurn(content) : content));
  if (isSigning(vendorModel)) signTurns(own);
  return own.every((content, index) => content === given[index]) ? null : own;
}

function ownTurn(content: JsonObject): JsonObject {
  const given = listOf(content.parts);
  const parts = given.flatMap((part): JsonValue[] => (isObject(part) ? ownPart(part) : [part]));
  if (parts.length === given.length && parts.every((part, index) => part === given[index])) return content;
  // A turn must say something.
  return { ...content, parts: parts.length === 0 ? [{ text: '' }] : parts };
}

function ownPart(part: JsonObject): JsonObject[] {
  const { thought, thoughtSignature } = messageAt(part, 'contents');
  if (typeof thoughtSignature !== 'string' || geminiSignature(readSignature(thoughtSignature)) !== null) return [part];
  if (thought === true) return [];
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
  return [rest];
}

/** Pieces of a streamed answer, each a content of its own, are one turn: its first call must be signed. */
function signTurns(contents: JsonValue[]): void {
  let isSigned = false;
  for (const [index, content] of contents.entries()) {
    if (!isObject(content) || content.role !== 'model') {
      isSigned = false;
      continue;
    }
    const parts = listOf(content.parts);
    const called = parts.findIndex((part) => isObject(part) && (part.functionCall ?? part.function_call) !== undefined);
    if (called < 0 || isSigned) continue;
    isSigned = true;
    const first = parts[called] as JsonObject;
    const signed = signedCall(first);
    if (signed !== first) contents[index] = { ...content, parts: parts.with(called, signed) };
  }
}

const signedCall = (part: JsonObject): JsonObject =>
  messageAt(part, 'contents').thoughtSignature === undefined ? { ...part, thoughtSignature: unsigned } : part;
