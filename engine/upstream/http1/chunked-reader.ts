/** The chunked transfer coding (RFC 9112 7.1). */
import type { HeadReader } from './head-reader.ts';

/** Hexadecimal digits: 2^48 bytes. */
const mostDigits = 12;
const longestExtension = 4096;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const semicolon = 0x3b;

type Step = 'size' | 'extension' | 'size-end' | 'data' | 'data-cr' | 'data-lf' | 'trailers' | 'done';

const digitOf = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
};

export class ChunkedReader {
  /** What the last push brought, or null. */
  data: Buffer | null = null;
  fault: string | null = null;
  private readonly trailers: HeadReader;
  private step: Step = 'done';
  private size = 0;
  private digits = 0;
  private extension = 0;

  constructor(trailers: HeadReader) {
    this.trailers = trailers;
  }

  begin(): void {
    this.fault = null;
    this.sizeFollows();
  }

  get ended(): boolean {
    return this.step === 'done';
  }

  /**
   * The offset in `chunk` up to which it was read. What it holds of the body is moved together inside of it, so that
   * many small chunks of one read are handed on at once.
   */
  push(chunk: Buffer, from: number): number {
    let at = from;
    let start = -1;
    let end = 0;
    while (at < chunk.length && this.fault === null && this.step !== 'done') {
      if (this.step === 'data') {
        const length = Math.min(this.size, chunk.length - at);
        if (start < 0) start = end = at;
        else chunk.copyWithin(end, at, at + length);
        end += length;
        at += length;
        this.size -= length;
        if (this.size === 0) this.step = 'data-cr';
      } else if (this.step === 'trailers') {
        const behind = this.trailers.push(chunk, at);
        this.fault = this.trailers.fault;
        if (behind >= 0) this.step = 'done';
        at = behind >= 0 ? behind : chunk.length;
      } else this.frame(chunk[at++]!);
    }
    this.data = start < 0 ? null : chunk.subarray(start, end);
    return at;
  }

  private sizeFollows(): void {
    this.step = 'size';
    this.size = 0;
    this.digits = 0;
    this.extension = 0;
  }

  /** One byte between the pieces of data. */
  private frame(byte: number): void {
    switch (this.step) {
      case 'size':
        return this.sizeByte(byte);
      case 'extension':
        return this.extensionByte(byte);
      case 'size-end':
        if (byte !== lineFeed) return this.refuse('a bare CR behind the size of a chunk');
        if (this.size > 0) this.step = 'data';
        else {
          this.step = 'trailers';
          this.trailers.next(false);
        }
        return;
      case 'data-cr':
        if (byte !== carriageReturn) return this.refuse('a chunk is longer than its size');
        this.step = 'data-lf';
        return;
      default:
        if (byte !== lineFeed) return this.refuse('a bare CR behind a chunk');
        this.sizeFollows();
    }
  }

  private sizeByte(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      this.size = this.size * 16 + digit;
      if (++this.digits > mostDigits) this.refuse('a chunk is too large');
    } else if (this.digits === 0) this.refuse('a chunk without a size');
    else if (byte === carriageReturn) this.step = 'size-end';
    else if (byte === semicolon) this.step = 'extension';
    else this.refuse('a bad size of a chunk');
  }

  private extensionByte(byte: number): void {
    if (byte === carriageReturn) this.step = 'size-end';
    else if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) this.refuse('a bad byte in a chunk’s extension');
    else if (++this.extension > longestExtension) this.refuse('a chunk’s extension is too long');
  }

  private refuse(why: string): void {
    this.fault = why;
  }
}
