/**
 * Reads blocks of lines (a status line with fields, or trailers) out of bytes that come in any pieces. Strict: anything
 * RFC 9112 lets a recipient repair is refused, since a repair is where two readers of the same bytes disagree.
 */
import { isNamed, noHeaders, type RawHeaders, trimmed, valueBetween } from '../headers.ts';

/** Bytes and lines of all blocks of one answer, interim heads and trailers with them. */
const mostBytes = 64 * 1024;
const mostLines = 256;
/** Digits that a double holds exactly. */
const mostDigits = 15;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const colon = 0x3a;

const tableOf = (pattern: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (pattern.test(String.fromCharCode(byte)) ? 1 : 0));
const isToken = tableOf(/[-!#$%&'*+.^_`|~0-9A-Za-z]/);
const isText = tableOf(/[\t\x20-\x7e\x80-\xff]/);

const blank = 0x20;
const zero = 0x30;
const version = Buffer.from('HTTP/1.');

/** What the digits say, and nothing but digits; −1 otherwise. At most `mostDigits`. */
function digitsBetween(bytes: Buffer, start: number, end: number): number {
  let value = start < end ? 0 : -1;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - zero;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isVersion(bytes: Buffer, start: number): boolean {
  for (let index = 0; index < version.length; index++) if (bytes[start + index] !== version[index]) return false;
  return true;
}

export class HeadReader {
  /** Why the bytes are no answer; nothing is read after it. */
  fault: string | null = null;
  status = 0;
  /** HTTP/1.0 */
  isOld = false;
  /** Bytes; −1 where none was said. */
  contentLength = -1;
  chunked = false;
  /** Whether the vendor ends the connection behind this answer. */
  closes = false;
  /** Seconds that the vendor keeps an idle connection; −1 where it did not say. */
  keepAlive = -1;
  lines: RawHeaders = noHeaders;
  private withStatus = true;
  private held: Buffer | null = null;
  private heldLength = 0;
  private usedBytes = 0;
  private usedLines = 0;
  /** Where in the bytes: the block, its first field line, the line being read, its colon (−1: not yet), the next byte. */
  private blockStart = 0;
  private fieldsStart = 0;
  private lineStart = 0;
  private colonAt = -1;
  private at = -1;

  /** A new answer. */
  begin(): void {
    this.fault = null;
    this.usedBytes = 0;
    this.usedLines = 0;
    this.next(true);
  }

  /** One more block of the same answer: with a status line, or trailers. */
  next(withStatus: boolean): void {
    this.withStatus = withStatus;
    this.held = null;
    this.at = -1;
    if (!withStatus) return;
    this.lines = noHeaders;
    this.status = 0;
    this.contentLength = -1;
    this.chunked = false;
    this.closes = false;
    this.keepAlive = -1;
  }

  forget(): void {
    this.lines = noHeaders;
    this.held = null;
  }

  /** The offset in `chunk` behind the block; −1 where more bytes are needed, or `fault` is set. */
  push(chunk: Buffer, from: number): number {
    if (this.held === null) {
      if (this.at < 0) this.startAt(from);
      if (this.scan(chunk, chunk.length)) return this.at;
      if (this.fault === null) this.hold(chunk);
      return -1;
    }
    const before = this.heldLength;
    this.append(chunk, from);
    return this.scan(this.held, this.heldLength) ? from + this.at - before : -1;
  }

  private startAt(start: number): void {
    this.blockStart = start;
    this.fieldsStart = start;
    this.lineStart = start;
    this.at = start;
    // A status line has no name: it is all value.
    this.colonAt = this.withStatus ? start : -1;
  }

  private hold(chunk: Buffer): void {
    const start = this.blockStart;
    this.heldLength = chunk.length - start;
    this.held = Buffer.allocUnsafeSlow(Math.max(1024, this.heldLength * 2));
    chunk.copy(this.held, 0, start);
    this.blockStart = 0;
    this.fieldsStart -= start;
    this.lineStart -= start;
    this.at -= start;
    if (this.colonAt >= 0) this.colonAt -= start;
  }

  private append(chunk: Buffer, from: number): void {
    const length = this.heldLength + chunk.length - from;
    if (length > this.held!.length) {
      const larger = Buffer.allocUnsafeSlow(length * 2);
      this.held!.copy(larger, 0, 0, this.heldLength);
      this.held = larger;
    }
    chunk.copy(this.held!, this.heldLength, from);
    this.heldLength = length;
  }

  /** True where the block is complete: `at` is behind it. */
  private scan(bytes: Buffer, limit: number): boolean {
    let { at } = this;
    for (;;) {
      const table = this.colonAt < 0 ? isToken : isText;
      while (at < limit && table[bytes[at]!] === 1) at++;
      this.at = at;
      if (at - this.blockStart + this.usedBytes > mostBytes) return this.refuse('the head is too large');
      if (at === limit) return false;
      if (this.colonAt < 0 && at > this.lineStart) {
        if (bytes[at] !== colon) return this.refuse('a bad field name');
        this.colonAt = at++;
        continue;
      }
      if (!this.isLineEnd(bytes, at, limit)) return false;
      at += 2;
      if (this.colonAt < 0) return this.complete(bytes, at);
      if (!this.line(bytes, at - 2)) return false;
      this.lineStart = at;
      this.colonAt = -1;
    }
  }

  private isLineEnd(bytes: Buffer, at: number, limit: number): boolean {
    if (bytes[at] !== carriageReturn) return this.refuse('a bad byte in the head');
    if (at + 1 === limit) return false;
    return bytes[at + 1] === lineFeed || this.refuse('a bare CR in the head');
  }

  private refuse(why: string): false {
    this.fault = why;
    return false;
  }

  private complete(bytes: Buffer, end: number): boolean {
    this.at = end;
    this.usedBytes += end - this.blockStart;
    if (this.usedBytes > mostBytes) return this.refuse('the head is too large');
    if (!this.withStatus) return true;
    this.lines = bytes.subarray(this.fieldsStart, end - 2);
    return true;
  }

  private line(bytes: Buffer, end: number): boolean {
    if (++this.usedLines > mostLines) return this.refuse('too many fields');
    if (!this.withStatus) return true;
    const start = this.lineStart;
    if (start !== this.blockStart) return this.field(bytes, start, this.colonAt, end);
    this.fieldsStart = end + 2;
    return this.statusLine(bytes, start, end);
  }

  /** `HTTP/1.1 200 OK`, where the reason may be missing with the blank before it. */
  private statusLine(bytes: Buffer, start: number, end: number): boolean {
    const minor = bytes[start + 7]!;
    const status = end - start < 12 ? 0 : digitsBetween(bytes, start + 9, start + 12);
    const isWhole =
      status >= 100 &&
      status < 600 &&
      isVersion(bytes, start) &&
      (minor === zero || minor === zero + 1) &&
      bytes[start + 8] === blank &&
      (end - start === 12 || bytes[start + 12] === blank);
    if (!isWhole) return this.refuse('no HTTP/1 status line');
    this.status = status;
    this.isOld = minor === zero;
    if (this.isOld) this.closes = true;
    return true;
  }

  /** Only what says where the answer ends matters here; its names have three lengths. */
  private field(bytes: Buffer, start: number, colonAt: number, end: number): boolean {
    const length = colonAt - start;
    if (length === 14 && isNamed(bytes, start, 'content-length')) return this.readLength(bytes, colonAt + 1, end);
    if (length === 17 && isNamed(bytes, start, 'transfer-encoding'))
      return this.readEncoding(valueBetween(bytes, colonAt + 1, end));
    if (length !== 10) return true;
    if (isNamed(bytes, start, 'connection')) this.readConnection(valueBetween(bytes, colonAt + 1, end));
    else if (isNamed(bytes, start, 'keep-alive')) this.readKeepAlive(valueBetween(bytes, colonAt + 1, end));
    return true;
  }

  private readLength(bytes: Buffer, start: number, end: number): boolean {
    const { from, to } = trimmed(bytes, start, end);
    const length = to - from > mostDigits ? -1 : digitsBetween(bytes, from, to);
    if (length < 0) return this.refuse('a bad Content-Length');
    if (this.contentLength >= 0 && this.contentLength !== length) return this.refuse('two Content-Lengths');
    this.contentLength = length;
    return true;
  }

  private readEncoding(text: string): boolean {
    if (this.chunked || text.toLowerCase() !== 'chunked') return this.refuse('a Transfer-Encoding that is not chunked');
    this.chunked = true;
    return true;
  }

  private readConnection(text: string): void {
    if (/(?:^|[,\s])close(?:$|[,\s])/i.test(text)) this.closes = true;
  }

  private readKeepAlive(text: string): void {
    const found = /(?:^|[,;\s])timeout\s*=\s*"?([0-9]{1,9})(?![0-9])/i.exec(text);
    if (found !== null) this.keepAlive = Number(found[1]);
  }
}
