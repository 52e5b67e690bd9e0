/** Token counts of this protocol: `input_tokens` leaves out what the cache read and wrote; `output_tokens` holds thoughts. */
import { isObject, type JsonObject, type JsonValue, type TokenUsage } from '../../../engine/plugin.ts';

/** No request has a billion tokens: a vendor that says so is not believed, and the usage is estimated. */
const mostTokens = 1e9;

/** A count: whole, not negative; anything else counts as 0. */
const count = (value: JsonValue | undefined): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** Null where the object has no token counts, or absurd ones. */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value) || typeof value.output_tokens !== 'number') return null;
  const cacheWrite = count(value.cache_creation_input_tokens);
  const cachedInput = count(value.cache_read_input_tokens);
  const input = count(value.input_tokens) + cacheWrite + cachedInput;
  const output = count(value.output_tokens);
  if (input > mostTokens || output > mostTokens) return null;
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  return { input, cachedInput, cacheWrite, output, reasoning: Math.min(output, count(details.thinking_tokens)) };
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
