/**
 * A model that several vendors serve may have thought at one of another protocol before. What stands in the messages of
 * that, no vendor of this protocol made, and it refuses it: it is left out, the one thing a relay changes but the model.
 */
import { isObject, type JsonObject, type JsonValue, ownSignature, signatureOf } from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';
import { takesThoughts } from './takes-thoughts.ts';

/** The messages without them; null where there are none. */
export function withoutForeignThoughts(messages: JsonValue | undefined, vendorModel: string): JsonValue[] | null {
  if (!Array.isArray(messages)) return null;
  const isOwn = takesThoughts(vendorModel) ? madeHere : () => false;
  const kept = messages.map((message) =>
    isObject(message) && message.role === 'assistant' ? cleaned(message, isOwn) : message,
  );
  return kept.every((message, index) => message === messages[index]) ? null : kept;
}

const madeHere = (signature: JsonValue | undefined): boolean =>
  typeof signature !== 'string' || ownSignature(protocolName, signatureOf(protocolName, signature)) !== null;

type IsOwn = (signature?: JsonValue) => boolean;

/** Most messages have none of the fields in which thoughts travel. */
const isPlain = (message: JsonObject): boolean =>
  message.reasoning_content === undefined &&
  message.reasoning === undefined &&
  message.reasoning_details === undefined &&
  message.tool_calls === undefined;

function cleaned(message: JsonObject, isOwn: IsOwn): JsonObject {
  if (isPlain(message)) return message;
  const { reasoning_content, reasoning, reasoning_details, ...rest } = message;
  const details = Array.isArray(reasoning_details) ? reasoning_details.filter((one) => isOwnDetail(one, isOwn)) : [];
  const isForeign = Array.isArray(reasoning_details) && details.length < reasoning_details.length;
  const hasThoughts = (reasoning_content ?? reasoning ?? null) !== null;
  const withCalls = cleanedCalls(isForeign || (hasThoughts && !isOwn()) ? rest : message, isOwn);
  return isForeign && details.length > 0 ? { ...withCalls, reasoning_details: details } : withCalls;
}

const isOwnDetail = (detail: JsonValue, isOwn: IsOwn): boolean =>
  isObject(detail) ? isOwn(detail.signature ?? detail.data) : isOwn();

function cleanedCalls(message: JsonObject, isOwn: IsOwn): JsonObject {
  const { tool_calls } = message;
  if (!Array.isArray(tool_calls)) return message;
  const calls = tool_calls.map((call) => (isObject(call) ? withoutSignature(call, isOwn) : call));
  return calls.every((call, index) => call === tool_calls[index]) ? message : { ...message, tool_calls: calls };
}

function withoutSignature(call: JsonObject, isOwn: IsOwn): JsonObject {
  const { extra_content, ...rest } = call;
  if (!isObject(extra_content)) return call;
  const google = isObject(extra_content.google) ? extra_content.google : {};
  return isOwn(google.thought_signature) ? call : rest;
}
