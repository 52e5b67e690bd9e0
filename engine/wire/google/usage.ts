/** Gemini's `usageMetadata` to tokens by kind and back. */
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonObject } from '../../contract/values.ts';
import { isObject } from '../openai/fields.ts';
import { countOf, credibleUsage, wholeOf } from '../token-usage.ts';

/**
 * Gemini counts thoughts beside the answer and the results of its own tools beside the prompt. What is no number counts as
 * 0; null where the counts are absurd.
 */
export function countGoogleUsage(metadata: Readonly<Record<string, unknown>>): TokenUsage | null {
  const reasoning = wholeOf(metadata.thoughtsTokenCount);
  return credibleUsage({
    input: wholeOf(metadata.promptTokenCount) + wholeOf(metadata.toolUsePromptTokenCount),
    cachedInput: countOf(metadata.cachedContentTokenCount),
    cacheWrite: 0,
    output: wholeOf(metadata.candidatesTokenCount) + reasoning,
    reasoning,
  });
}

/** Null where there are no counts, or absurd ones. */
export function readGoogleUsage(value: unknown): TokenUsage | null {
  return isObject(value) && typeof value.promptTokenCount === 'number' ? countGoogleUsage(value) : null;
}

export function writeGoogleUsage({ input, cachedInput, output, reasoning }: TokenUsage): JsonObject {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    ...(cachedInput > 0 ? { cachedContentTokenCount: cachedInput } : {}),
  };
}
