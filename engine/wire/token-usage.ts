/** Token counts as a vendor tells them: hostile until they were read here. */
import type { TokenUsage } from '../contract/usage.ts';

/** No request has a billion tokens: a vendor that says so is not believed, and the usage is estimated. */
const mostTokens = 1e9;

/** A count: whole, not negative; anything else counts as 0. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** A count that others are parts of: a number that counts nothing is absurd, and so is the usage that it stands in. */
export const wholeOf = (value: unknown): number =>
  typeof value === 'number' && !(Number.isSafeInteger(value) && value >= 0) ? Number.POSITIVE_INFINITY : countOf(value);

/** Counts of which no part is larger than its whole; null where one of the wholes is absurd. */
export function credibleUsage({ input, cachedInput, cacheWrite, output, reasoning }: TokenUsage): TokenUsage | null {
  if (input > mostTokens || output > mostTokens) return null;
  const cached = Math.min(input, cachedInput);
  return {
    input,
    cachedInput: cached,
    cacheWrite: Math.min(input - cached, cacheWrite),
    output,
    reasoning: Math.min(output, reasoning),
  };
}
