/** Reading a vendor's raw response headers: few are looked at, so nothing is turned into an object. */

/** The field lines of a head in Latin-1, as they came: `name: value`, each ended by CRLF, names and values checked. */
export type RawHeaders = Buffer;

export const noHeaders: RawHeaders = Buffer.alloc(0);

const colon = 0x3a;
const lineFeed = 0x0a;
/** The bit that tells lower case from upper case. */
const caseBit = 0x20;

/** Lines from name, value, name, value. */
export function rawHeaders(pairs: readonly (string | Buffer)[]): RawHeaders {
  let lines = '';
  for (let index = 0; index + 1 < pairs.length; index += 2)
    lines += `${pairs[index]!.toString('latin1')}: ${pairs[index + 1]!.toString('latin1')}\r\n`;
  return Buffer.from(lines, 'latin1');
}

/** Whether the name from `start` on is `name` (lower case); a checked name holds nothing that the bit could mistake. */
export function isNamed(bytes: Buffer, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++)
    if ((bytes[start + index]! | caseBit) !== name.charCodeAt(index)) return false;
  return true;
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09;

/** Without the blanks around it. */
export function trimmed(bytes: Buffer, start: number, end: number): { readonly from: number; readonly to: number } {
  let from = start;
  let to = end;
  while (from < to && isBlank(bytes[from]!)) from++;
  while (to > from && isBlank(bytes[to - 1]!)) to--;
  return { from, to };
}

/** The value between `start` and `end` without the blanks around it. */
export function valueBetween(bytes: Buffer, start: number, end: number): string {
  const { from, to } = trimmed(bytes, start, end);
  return bytes.toString('latin1', from, to);
}

/** The value of one header (`name` in lower case), or ''. */
export function headerValue(headers: RawHeaders, name: string): string {
  const { length } = name;
  for (let start = 0; start < headers.length; ) {
    const end = headers.indexOf(lineFeed, start);
    if (headers[start + length] === colon && isNamed(headers, start, name))
      return valueBetween(headers, start + length + 1, end - 1);
    start = end + 1;
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
