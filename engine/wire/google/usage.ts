/** Gemini's `usageMetadata` to tokens by kind and back. */
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonObject } from '../../contract/values.ts';
import { isObject } from '../openai/fields.ts';
import { countOf, credibleUsage } from '../token-usage.ts';

/**
 * Gemini counts thoughts beside the answer and the results of its own tools beside the prompt. Null where there are no
 * counts, or absurd ones.
 */
export function readGoogleUsage(value: unknown): TokenUsage | null {
  if (!isObject(value) || typeof value.promptTokenCount !== 'number') return null;
  const reasoning = countOf(value.thoughtsTokenCount);
  return credibleUsage({
    input: countOf(value.promptTokenCount) + countOf(value.toolUsePromptTokenCount),
    cachedInput: countOf(value.cachedContentTokenCount),
    cacheWrite: 0,
    output: countOf(value.candidatesTokenCount) + reasoning,
    reasoning,
  });
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
