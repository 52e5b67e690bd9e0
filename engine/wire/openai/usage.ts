/** OpenAI's `usage` object to tokens by kind, and the shape of its error body: many vendors speak both. */
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { countOf, credibleUsage, wholeOf } from '../token-usage.ts';
import { isObject } from './fields.ts';

/** Null where the object has no token counts, or absurd ones. `prompt_tokens` includes cached, `completion_tokens` includes reasoning tokens. */
export function readOpenAiUsage(value: unknown): TokenUsage | null {
  if (!isObject(value) || (typeof value.prompt_tokens !== 'number' && typeof value.completion_tokens !== 'number'))
    return null;
  const prompt = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const completion = isObject(value.completion_tokens_details) ? value.completion_tokens_details : {};
  return credibleUsage({
    input: wholeOf(value.prompt_tokens),
    cachedInput: countOf(prompt.cached_tokens),
    cacheWrite: countOf(prompt.cache_write_tokens),
    output: wholeOf(value.completion_tokens),
    reasoning: countOf(completion.reasoning_tokens),
  });
}

export function writeOpenAiUsage(usage: TokenUsage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInput,
      ...(usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {}),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

const text = (value: JsonValue | undefined) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;

/**
 * `{"error":{message,type,param,code}}`, `{"error":"…"}`, either within an array, or `{"object":"error",message,…}`;
 * null for anything else.
 */
export function readOpenAiError(value: JsonValue): VendorError | null {
  const body = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return null;
  if (isObject(body.error)) return errorFrom(body.error);
  if (body.error) return errorFrom({ message: body.error, code: body.code ?? null });
  return body.object === 'error' ? errorFrom(body) : null;
}

function errorFrom({ message, code, type, param }: JsonObject): VendorError {
  return {
    message: text(message) ?? 'unknown error',
    code: text(code),
    type: text(type),
    param: text(param),
    retryAfter: null,
  };
}
