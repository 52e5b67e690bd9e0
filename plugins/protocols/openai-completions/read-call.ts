/** What the gateway itself relies on; all else is the vendor's business. */
import {
  type ChatCall,
  GatewayError,
  invalidType,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  optionalBoolean,
  optionalCount,
  requiredString,
  wantsUsage,
} from '../../../engine/plugin.ts';
import { defaultMaximum } from './fields.ts';

export function readCall(body: JsonObject): ChatCall {
  const model = requiredString(body, 'model');
  const prompts = countPrompts(body.prompt);
  numberOrNull(body.temperature, 'temperature');
  const stream = optionalBoolean(body, 'stream');
  const perPrompt = Math.max(optionalCount(body, 'n', 1) ?? 1, optionalCount(body, 'best_of', 0) ?? 1);
  return {
    kind: 'chat',
    model,
    stream,
    wantsUsage: wantsUsage(body, stream),
    maxOutputTokens: optionalCount(body, 'max_tokens', 0) ?? defaultMaximum,
    choices: prompts * perPrompt,
    body,
  };
}

const isToken = (value: JsonValue): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isTokens = (value: JsonValue): boolean => Array.isArray(value) && value.length > 0 && value.every(isToken);

/** A string or one list of tokens is one prompt; lists of either are several. */
function countPrompts(prompt: JsonValue | undefined): number {
  if (prompt === undefined || prompt === null) {
    throw new GatewayError('missing_required_parameter', '`prompt` is required.', { param: 'prompt' });
  }
  if (typeof prompt === 'string') return 1;
  if (Array.isArray(prompt)) {
    if (prompt.length === 0) throw new GatewayError('invalid_value', '`prompt` is empty.', { param: 'prompt' });
    if (isTokens(prompt)) return 1;
    if (prompt.every((one) => typeof one === 'string') || prompt.every(isTokens)) return prompt.length;
  }
  throw invalidType('prompt', 'a string, an array of strings, an array of tokens or an array of token arrays');
}
