/** Reading what a vendor counted, and counting where it did not. */
import type { Counts } from '../../contract/direct.ts';
import { noUsage, type Usage } from '../../contract/usage.ts';

/** No request has a billion of anything: a vendor that says so is not believed. */
const most = 1e9;

/** Answers `{ [name]: value }` for a whole number above 0, else nothing: no vendor works on nothing. */
export function counted(name: keyof Counts, value: unknown): Counts {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= most;
  return isCount ? { [name]: value } : {};
}

/** The same for seconds, which need not be whole. */
export function countedSeconds(value: unknown): Counts {
  return typeof value === 'number' && value > 0 && value <= most ? { seconds: value } : {};
}

/** Four characters are about one token. */
export const textTokens = (text: string): number => Math.ceil(text.length / 4);

export const estimatedUsage = (counts: Counts): Usage => ({ ...noUsage, ...counts, source: 'estimated' });
