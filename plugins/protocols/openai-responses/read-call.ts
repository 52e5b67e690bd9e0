/** What the gateway itself relies on; all else is the vendor's business. */
import {
  type ChatCall,
  GatewayError,
  invalidType,
  type JsonObject,
  numberOrNull,
  objectAt,
  optionalBoolean,
  optionalCount,
  requiredString,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';

export function readCall(body: JsonObject): ChatCall {
  const call = readInput(body);
  refuseUnbilled(body);
  numberOrNull(body.temperature, 'temperature');
  const stream = optionalBoolean(body, 'stream');
  optionalBoolean(body, 'store');
  const maxOutputTokens = optionalCount(body, 'max_output_tokens', 1);
  return { ...call, stream, maxOutputTokens };
}

/** A call without options: what is counted and what is compacted. */
export function readInput(body: JsonObject): ChatCall {
  const model = requiredString(body, 'model');
  const previous = stringOrNull(body.previous_response_id, 'previous_response_id');
  refuseForeign(body);
  checkInput(body, previous !== null || (body.prompt ?? null) !== null);
  stringOrNull(body.instructions, 'instructions');
  return { kind: 'chat', model, stream: false, wantsUsage: true, maxOutputTokens: null, choices: 1, body };
}

function checkInput({ input }: JsonObject, isOptional: boolean): void {
  if (input === undefined || input === null) {
    if (isOptional) return;
    throw new GatewayError('missing_required_parameter', '`input` is required.', { param: 'input' });
  }
  if (typeof input === 'string') return;
  if (!Array.isArray(input)) throw invalidType('input', 'a string or an array of items');
  if (input.length === 0 && !isOptional)
    throw new GatewayError('invalid_value', '`input` needs at least one item.', { param: 'input' });
  for (const [index, item] of input.entries()) objectAt(item, `input[${index}]`);
}

/** Vendor accounts are shared: a conversation of one user could be named by another. */
function refuseForeign({ conversation }: JsonObject): void {
  if ((conversation ?? null) !== null)
    throw unsupported('conversation', 'is not kept by this gateway. Use `previous_response_id`.');
}

/** Its usage would be known only after the answer. */
function refuseUnbilled(body: JsonObject): void {
  if (optionalBoolean(body, 'background'))
    throw unsupported('background', 'is not supported: an answer is charged before its last byte. Use `stream`.');
}
