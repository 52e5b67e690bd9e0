/** One message in neutral form. */
import {
  arrayAt,
  type ChatMessage,
  type ChatPart,
  customToolArguments,
  GatewayError,
  invalidType,
  isObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  signatureOf,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';
import { decodePart } from './decode-part.ts';
import { protocolName } from './fields.ts';
import { decodeDetails } from './reasoning-details.ts';

const roles: Readonly<Record<string, ChatMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
};

export function decodeMessage(value: JsonValue, index: number): ChatMessage {
  const place = `messages[${index}]`;
  const message = objectAt(value, place);
  const role = decodeRole(stringAt(message.role, `${place}.role`), `${place}.role`);
  const name = stringOrNull(message.name, `${place}.name`);
  return { role, ...(name === null ? {} : { name }), parts: decodeParts(role, message, place) };
}

function decodeRole(role: string, place: string): ChatMessage['role'] {
  if (Object.hasOwn(roles, role)) return roles[role]!;
  if (role === 'function')
    throw unsupported(place, 'must be `tool` for this model: the older `function` is not carried.');
  throw new GatewayError('invalid_value', `\`${place}\` must be one of ${Object.keys(roles).join(', ')}.`, {
    param: place,
  });
}

function decodeParts(role: ChatMessage['role'], message: JsonObject, place: string): readonly ChatPart[] {
  if (role === 'assistant') return assistantParts(message, place);
  const parts = contentParts(message.content, `${place}.content`);
  if (role !== 'tool') return parts;
  const id = stringAt(message.tool_call_id, `${place}.tool_call_id`);
  return [{ type: 'tool-result', id, parts, error: false }];
}

function contentParts(content: JsonValue | undefined, place: string): ChatPart[] {
  if (content === undefined || content === null) {
    throw new GatewayError('missing_required_parameter', `\`${place}\` is required.`, { param: place });
  }
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalidType(place, 'a string or an array of parts');
  return content.map((part, index) => decodePart(part, `${place}[${index}]`));
}

function assistantParts(message: JsonObject, place: string): ChatPart[] {
  for (const name of ['audio', 'function_call']) {
    if (isObject(message[name])) throw unsupported(`${place}.${name}`, 'cannot be carried to this model’s vendor.');
  }
  const thoughts = decodeThoughts(message);
  const said = (message.content ?? '') === '' ? [] : contentParts(message.content, `${place}.content`);
  const refusal = stringOrNull(message.refusal, `${place}.refusal`);
  const refused: ChatPart[] = refusal ? [{ type: 'refusal', text: refusal }] : [];
  const calls = arrayAt(message.tool_calls ?? [], `${place}.tool_calls`);
  const called = calls.map((call, index) => decodeCall(call, `${place}.tool_calls[${index}]`));
  return [...thoughts, ...said, ...refused, ...called];
}

/** Signed thoughts stand in `reasoning_details` as the gateway gave them; the plain text repeats them. */
function decodeThoughts(message: JsonObject): ChatPart[] {
  const signed = decodeDetails(message.reasoning_details);
  if (signed.length > 0) return signed;
  const reasoning = message.reasoning_content ?? message.reasoning;
  const isSaid = typeof reasoning === 'string' && reasoning !== '';
  return isSaid ? [{ type: 'reasoning', text: reasoning, signature: null }] : [];
}

function decodeCall(value: JsonValue, place: string): ChatPart {
  const call = objectAt(value, place);
  if (call.type === 'custom') return decodeCustomCall(call, place);
  if ((call.type ?? 'function') !== 'function')
    throw unsupported(`${place}.type`, 'must be `function` or `custom` for this model.');
  const called = objectAt(call.function, `${place}.function`);
  const signature = readSignature(call);
  return {
    type: 'tool-call',
    id: stringAt(call.id, `${place}.id`),
    name: stringAt(called.name, `${place}.function.name`),
    arguments: stringAt(called.arguments, `${place}.function.arguments`),
    ...(signature === null ? {} : { signature }),
  };
}

function decodeCustomCall(call: JsonObject, place: string): ChatPart {
  const custom = objectAt(call.custom, `${place}.custom`);
  return {
    type: 'tool-call',
    id: stringAt(call.id, `${place}.id`),
    name: stringAt(custom.name, `${place}.custom.name`),
    arguments: customToolArguments(stringAt(custom.input, `${place}.custom.input`)),
  };
}

/** Where Google's own chat endpoint puts the signature of a thought; clients send it back untouched. */
function readSignature({ extra_content }: JsonObject): string | null {
  if (!isObject(extra_content) || !isObject(extra_content.google)) return null;
  const { thought_signature } = extra_content.google;
  return typeof thought_signature === 'string' ? signatureOf(protocolName, thought_signature) : null;
}
