/** Gemini's `usageMetadata` to tokens by kind and back. */
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonObject } from '../../contract/values.ts';
import { isObject } from '../openai/fields.ts';

/** No request has a billion tokens: a vendor that says so is not believed, and the usage is estimated. */
const mostTokens = 1e9;

/** A count: whole, not negative; anything else counts as 0. */
const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/**
 * Gemini counts thoughts beside the answer and the results of its own tools beside the prompt. Null where there are no
 * counts, or absurd ones.
 */
export function readGoogleUsage(value: unknown): TokenUsage | null {
  if (!isObject(value) || typeof value.promptTokenCount !== 'number') return null;
  const input = count(value.promptTokenCount) + count(value.toolUsePromptTokenCount);
  const reasoning = count(value.thoughtsTokenCount);
  const output = count(value.candidatesTokenCount) + reasoning;
  if (input > mostTokens || output > mostTokens) return null;
  const cachedInput = Math.min(input, count(value.cachedContentTokenCount));
  return { input, cachedInput, cacheWrite: 0, output, reasoning };
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
