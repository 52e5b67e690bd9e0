/** `usage` of a response. */
import { isObject, type JsonObject, type JsonValue, readOpenAiUsage, type TokenUsage } from '../../../engine/plugin.ts';

/** The same counts as chat completions have, under other names. Null where there are none. */
export function readUsage(value: JsonValue | undefined): TokenUsage | null {
  if (!isObject(value)) return null;
  return readOpenAiUsage({
    prompt_tokens: value.input_tokens,
    completion_tokens: value.output_tokens,
    prompt_tokens_details: value.input_tokens_details,
    completion_tokens_details: value.output_tokens_details,
  });
}

export const writeUsage = (usage: TokenUsage | null): JsonValue =>
  usage === null
    ? null
    : ({
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cachedInput, cache_write_tokens: usage.cacheWrite },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning },
        total_tokens: usage.input + usage.output,
      } satisfies JsonObject);
