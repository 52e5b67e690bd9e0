/** Reading what a vendor counted, and counting where it did not. */
import type { Counts } from '../../contract/direct.ts';
import { noUsage, type Usage } from '../../contract/usage.ts';

/** No request has a billion of anything: a vendor that says so is not believed. */
const most = 1e9;

/** One unit is a hundred documents: no body holds more than a few hundred of them. */
const mostSearchUnits = 10_000;

/** Seconds: no upload is longer than a day. */
const longestSound = 86_400;

/** Answers `{ [name]: value }` for a whole number above 0, else nothing: no vendor works on nothing. */
export function counted(name: keyof Counts, value: unknown): Counts {
  const bound = name === 'searchUnits' ? mostSearchUnits : most;
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= bound;
  return isCount ? { [name]: value } : {};
}

/** The same for seconds, which need not be whole. */
export function countedSeconds(value: unknown): Counts {
  return typeof value === 'number' && value > 0 && value <= longestSound ? { seconds: value } : {};
}

/** Four characters are about one token. */
export const textTokens = (text: string): number => Math.ceil(text.length / 4);

export const estimatedUsage = (counts: Counts): Usage => ({ ...noUsage, ...counts, source: 'estimated' });
