/** Reading a vendor's raw response headers: few are looked at, so nothing is turned into an object. */
import type { RawHeaders } from './pools.ts';

/** The value of one header (`name` in lower case), or ''. */
export function headerValue(headers: RawHeaders, name: string): string {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const key = headers[index]!;
    if (key.length === name.length && key.toString('latin1').toLowerCase() === name)
      return headers[index + 1]!.toString('latin1');
  }
  return '';
}

const longestRetryAfter = 3600;

/** Seconds of `retry-after-ms` or `Retry-After` (seconds or an HTTP date), bounded to an hour; null where there is none. */
export function retryAfterSeconds(headers: RawHeaders, now: number): number | null {
  const milliseconds = Number.parseFloat(headerValue(headers, 'retry-after-ms'));
  if (milliseconds >= 0) return bounded(milliseconds / 1000);
  const text = headerValue(headers, 'retry-after');
  if (text === '') return null;
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text));
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : bounded((date - now) / 1000);
}

function bounded(seconds: number): number {
  return Math.min(Math.max(0, seconds), longestRetryAfter);
}
