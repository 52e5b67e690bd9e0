/**
 * Byte surgery on JSON objects: change a few top-level members, leave every other byte as it came. The input must be
 * valid JSON (it was parsed before); nested keys of the same name are not touched.
 */
import { Buffer } from 'node:buffer';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A member's place: the key starts at `start` (its quote), its value is [valueStart, end). */
interface MemberSpan {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

function skipSpace(bytes: Buffer, at: number): number {
  while (isSpace(bytes[at]!)) at++;
  return at;
}

/** The place of the quote that ends a string; `start` is its first byte. -1 where none does. */
export function closingQuote(bytes: Buffer, start: number): number {
  let quote = bytes.indexOf(QUOTE, start);
  while (bytes[quote - 1] === BACKSLASH && isEscaped(bytes, quote)) quote = bytes.indexOf(QUOTE, quote + 1);
  return quote;
}

/** A quote is escaped when an odd number of backslashes stands before it. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** `at` stands on the opening quote; answers the place behind the closing one, or the end where none comes. */
function skipString(bytes: Buffer, at: number): number {
  const quote = closingQuote(bytes, at + 1);
  return quote < 0 ? bytes.length : quote + 1;
}

function skipValue(bytes: Buffer, at: number): number {
  let depth = 0;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) {
      // At depth 0 this is the end of the object that holds the value.
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at;
    at++;
  }
  return at;
}

function* members(bytes: Buffer): Generator<MemberSpan> {
  let at = skipSpace(bytes, bytes.indexOf(0x7b) + 1);
  while (bytes[at] === QUOTE) {
    const start = at;
    const keyEnd = skipString(bytes, at);
    const raw = bytes.toString('latin1', start + 1, keyEnd - 1);
    // A key may be written with escapes ("mod\u0065l"): the parser of the vendor would read it as the plain one.
    const name = raw.includes('\\') ? (JSON.parse(bytes.toString('utf8', start, keyEnd)) as string) : raw;
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) return;
    const valueStart = skipSpace(bytes, at + 1);
    const end = skipValue(bytes, valueStart);
    yield { name, start, valueStart, end };
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) return;
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * The object with some top-level members changed: a string is the member's new JSON text (every occurrence is replaced,
 * an absent member is added at the end), null takes it out. Answers `bytes` itself when nothing changes.
 */
export function rewriteMembers(bytes: Buffer, changes: ReadonlyMap<string, string | null>): Buffer {
  for (const change of changes.values()) {
    if (change === null) return replaceMembers(withoutMembers(bytes, changes), changes);
  }
  return replaceMembers(bytes, changes);
}

const modelKey = Buffer.from('"model"');
/** Of a letter of that key, written as an escape. */
const escapedLetter = Buffer.from('\\u006');

/**
 * The object with another model's name, for an object that was parsed and has one; null where the name stands in more
 * than one place, or may (a key with escapes): then `rewriteMembers` goes through all members.
 */
export function renameModel(bytes: Buffer, name: string): Buffer | null {
  const key = bytes.indexOf(modelKey);
  if (key < 0 || bytes.indexOf(modelKey, key + modelKey.length) >= 0 || bytes.includes(escapedLetter)) return null;
  const colon = skipSpace(bytes, key + modelKey.length);
  const value = skipSpace(bytes, colon + 1);
  if (bytes[colon] !== COLON || bytes[value] !== QUOTE) return null;
  const end = skipString(bytes, value);
  const quoted = quotedName(name);
  const rest = value + quoted.length;
  const renamed = Buffer.allocUnsafe(rest + bytes.length - end);
  bytes.copy(renamed, 0, 0, value);
  renamed.set(quoted, value);
  bytes.copy(renamed, rest, end);
  return renamed;
}

/** Names that vendors have for their models, as JSON: the few of the configuration. */
const quotedNames = new Map<string, Buffer>();
const mostNames = 10_000;

function quotedName(name: string): Buffer {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = Buffer.from(JSON.stringify(name));
    if (quotedNames.size >= mostNames) quotedNames.clear();
    quotedNames.set(name, quoted);
  }
  return quoted;
}

function replaceMembers(bytes: Buffer, changes: ReadonlyMap<string, string | null>): Buffer {
  const pieces: Buffer[] = [];
  const found = new Set<string>();
  let copied = 0;
  let empty = true;
  for (const member of members(bytes)) {
    empty = false;
    const change = changes.get(member.name);
    if (typeof change !== 'string') continue;
    found.add(member.name);
    pieces.push(bytes.subarray(copied, member.valueStart), Buffer.from(change));
    copied = member.end;
  }
  for (const [name, change] of changes) {
    if (change === null || found.has(name)) continue;
    const close = bytes.lastIndexOf(0x7d);
    pieces.push(bytes.subarray(copied, close), Buffer.from(`${empty ? '' : ','}${JSON.stringify(name)}:${change}`));
    copied = close;
    empty = false;
  }
  if (pieces.length === 0) return bytes;
  pieces.push(bytes.subarray(copied));
  return Buffer.concat(pieces);
}

function withoutMembers(bytes: Buffer, changes: ReadonlyMap<string, string | null>): Buffer {
  const kept: string[] = [];
  let removed = false;
  for (const member of members(bytes)) {
    if (changes.get(member.name) === null) removed = true;
    else kept.push(bytes.toString('utf8', member.start, member.end));
  }
  return removed ? Buffer.from(`{${kept.join(',')}}`) : bytes;
}
