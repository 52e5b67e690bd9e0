/**
 * JSON with megabyte strings in it (images as Base64) without parsing those strings: they are lifted out as slices of
 * the body, and only the small rest goes through JSON.parse.
 */
import { randomUUID } from 'node:crypto';
import { closingQuote } from './json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** A long string of a JSON text: the bytes between its quotes, escapes resolved. */
export class Lifted {
  /** UTF-8. A view of the body where the string had no escapes. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** A parsed JSON value with `Lifted` in place of its long strings. */
export type LiftedValue = null | boolean | number | string | Lifted | LiftedValue[] | LiftedObject;
export interface LiftedObject {
  [key: string]: LiftedValue;
}

/** Strings longer than this many bytes are lifted; shorter ones are cheaper to parse. */
const threshold = 4096;

interface Span {
  /** First byte between the quotes, and the closing quote. */
  readonly start: number;
  readonly end: number;
}

/** A string before a colon is a key: it stays. */
function isKey(body: Buffer, end: number): boolean {
  let at = end + 1;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return body[at] === COLON;
}

/** The long strings of a text. Outside of strings valid JSON has no quotes, so quotes alone tell where strings are. */
function findLong(body: Buffer): Span[] {
  const spans: Span[] = [];
  let open = body.indexOf(QUOTE);
  while (open !== -1) {
    const end = closingQuote(body, open + 1);
    if (end === -1) throw new SyntaxError('unterminated string in JSON');
    if (end - open > threshold && !isKey(body, end)) spans.push({ start: open + 1, end });
    open = body.indexOf(QUOTE, end + 1);
  }
  return spans;
}

/** Vendors that escape (PHP writes `\/` in Base64) cost a parse of that string, no more than it cost before. */
const withoutEscapes = (raw: Buffer): Buffer =>
  raw.indexOf(BACKSLASH) === -1 ? raw : Buffer.from(JSON.parse(`"${raw.toString()}"`) as string);

/** Puts the lifted strings in their places. No recursion: the depth is the sender's. */
function putBack(root: LiftedObject, lifted: ReadonlyMap<string, Lifted>): void {
  const open: LiftedObject[] = [root];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const key of Object.keys(container)) {
      const value = container[key]!;
      if (typeof value === 'string') {
        const found = lifted.get(value);
        if (found) container[key] = found;
      } else if (typeof value === 'object' && value !== null) open.push(value as LiftedObject);
    }
  }
}

/**
 * Parses a JSON text. Long strings are found by their quotes and come back as `Lifted`; invalid UTF-8 becomes U+FFFD in
 * short strings, and control characters are not looked for in long ones. Throws SyntaxError where the text is not JSON.
 * The stand-ins carry a random id of this call, so that no sender can write one.
 */
export function liftJson(body: Buffer): LiftedValue {
  const spans = findLong(body);
  if (spans.length === 0) return JSON.parse(body.toString()) as LiftedValue;
  const id = randomUUID();
  const lifted = new Map<string, Lifted>();
  let skeleton = '';
  let copied = 0;
  for (const { start, end } of spans) {
    const name = `${id}:${lifted.size}`;
    lifted.set(name, new Lifted(withoutEscapes(body.subarray(start, end))));
    skeleton += body.toString('utf8', copied, start) + name;
    copied = end;
  }
  const root = { value: JSON.parse(skeleton + body.toString('utf8', copied)) as LiftedValue };
  putBack(root, lifted);
  return root.value;
}

export const isLiftedObject = (value: LiftedValue | undefined): value is LiftedObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Lifted);

/** The bytes of a string, long or short; null for anything else. */
export function liftedBytes(value: LiftedValue | undefined): Buffer | null {
  if (value instanceof Lifted) return value.bytes;
  return typeof value === 'string' ? Buffer.from(value) : null;
}

/** A string cut to `maximum` characters, long or short; null for anything else. */
export function liftedText(value: LiftedValue | undefined, maximum: number): string | null {
  if (value instanceof Lifted) return value.bytes.toString('utf8', 0, maximum * 4).slice(0, maximum);
  return typeof value === 'string' ? value.slice(0, maximum) : null;
}
