/** Token counts of this protocol: `input_tokens` leaves out what the cache read and wrote; `output_tokens` holds thoughts. */
import {
  countOf,
  credibleUsage,
  isObject,
  type JsonObject,
  type JsonValue,
  type TokenUsage,
  wholeOf,
} from '../../../engine/plugin.ts';

/** Null where the object has no token counts, or absurd ones. */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value) || typeof value.output_tokens !== 'number') return null;
  const cacheWrite = wholeOf(value.cache_creation_input_tokens);
  const cachedInput = wholeOf(value.cache_read_input_tokens);
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  return credibleUsage({
    input: wholeOf(value.input_tokens) + cacheWrite + cachedInput,
    cachedInput,
    cacheWrite,
    output: wholeOf(value.output_tokens),
    reasoning: countOf(details.thinking_tokens),
  });
}

/** Counts of a stream are totals: what a later event says replaces what an earlier one said, what it leaves out stays. */
export function laterUsage(earlier: JsonObject, later: JsonValue | undefined): JsonObject {
  if (!isObject(later)) return earlier;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) };
}

export function writeUsage({ input, cachedInput, cacheWrite, output, reasoning }: TokenUsage): JsonObject {
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}
