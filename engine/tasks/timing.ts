/** When a task is looked at next. All in ms. */
import type { VideoSettings } from './settings.ts';

/** A task that has run for long is not done a second later: a tenth of its age is early enough. */
export function nextPoll({ pollInterval }: VideoSettings, age: number): number {
  return Math.min(Math.max(pollInterval, age / 10), 6 * pollInterval);
}

/** Doubled with each failure in a row, a minute at the most (or six intervals), and never before the vendor's own word. */
export function nextTry({ pollInterval }: VideoSettings, failures: number, retryAfter: number | null): number {
  const longest = Math.max(60_000, 6 * pollInterval);
  const wait = Math.min(pollInterval * 2 ** Math.min(failures, 20), longest);
  return Math.max(wait, (retryAfter ?? 0) * 1000);
}

/** For vendors that tell no progress: it comes nearer to the end and never there. */
export function guessedProgress(age: number): number {
  return Math.floor(95 * (1 - Math.exp(-age / 60_000)));
}
