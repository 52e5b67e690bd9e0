/** Server-Sent Events: cutting a byte stream at frame ends, and reading frames (WHATWG HTML, section 9.2). */
import type { SseFrame } from '../contract/wire.ts';

/** Of a stream of events to a client. */
export const eventStream = 'text/event-stream; charset=utf-8';

export const isEventStream = (contentType: string): boolean => /^text\/event-stream\b/i.test(contentType);

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/** Frames that never end are given up beyond this; an image of some megabytes in one frame is normal. */
const maximumFrameBytes = 64 * 1024 * 1024;

/** Where the last complete frame of `bytes` ends (behind its blank line), 0 where none does. */
function lastFrameEnd(bytes: Buffer): number {
  const length = bytes.length;
  if (length >= 2 && bytes[length - 1] === LF && bytes[length - 2] === LF) return length;
  const bare = bytes.lastIndexOf('\n\n');
  const windows = bytes.lastIndexOf('\n\r\n');
  const oldMac = bytes.lastIndexOf('\r\r');
  return Math.max(bare < 0 ? 0 : bare + 2, windows < 0 ? 0 : windows + 3, oldMac < 0 ? 0 : oldMac + 2);
}

/**
 * Cuts a byte stream at frame ends: what is complete passes at once, an incomplete frame waits for its rest. A chunk
 * that ends with its frame (nearly all do) costs one comparison and no copy.
 */
export class FrameSplitter {
  private waiting: Buffer[] = [];
  private waitingBytes = 0;

  /** The bytes of all frames that are complete now, or null. */
  push(chunk: Buffer): Buffer | null {
    if (this.waitingBytes === 0) {
      const end = lastFrameEnd(chunk);
      if (end === chunk.length) return end === 0 ? null : chunk;
      this.keep(chunk.subarray(end));
      return end === 0 ? null : chunk.subarray(0, end);
    }
    // The blank line itself may be split: look at the seam too, and only there and in the new bytes.
    const seam = this.tail(3);
    const joined = Buffer.concat([seam, chunk]);
    const end = lastFrameEnd(joined) - seam.length;
    if (end <= 0) {
      this.keep(chunk);
      return null;
    }
    const complete = Buffer.concat([...this.waiting, chunk.subarray(0, end)]);
    this.waiting = [];
    this.waitingBytes = 0;
    if (end < chunk.length) this.keep(chunk.subarray(end));
    return complete;
  }

  /** The incomplete rest at the end of the stream, or null. */
  rest(): Buffer | null {
    if (this.waitingBytes === 0) return null;
    const rest = Buffer.concat(this.waiting);
    this.waiting = [];
    this.waitingBytes = 0;
    return rest;
  }

  get pendingBytes(): number {
    return this.waitingBytes;
  }

  private keep(bytes: Buffer): void {
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes > maximumFrameBytes) throw new Error('a frame of the stream is too large');
    // Byte-wise trickles would make a long list of tiny pieces.
    if (this.waiting.length > 64) this.mergeTail();
  }

  /** Joins pieces from the end as long as they are of a size: each byte is copied only a logarithm of times. */
  private mergeTail(): void {
    let from = this.waiting.length - 1;
    let size = this.waiting[from]!.length;
    while (from > 0 && this.waiting[from - 1]!.length <= 2 * size) size += this.waiting[--from]!.length;
    this.waiting = [...this.waiting.slice(0, from), Buffer.concat(this.waiting.slice(from))];
  }

  private tail(count: number): Buffer {
    let tail = Buffer.alloc(0);
    for (let index = this.waiting.length - 1; index >= 0 && tail.length < count; index--) {
      tail = Buffer.concat([this.waiting[index]!.subarray(-(count - tail.length)), tail]);
    }
    return tail;
  }
}

/** Whether one frame is neither a comment nor blank lines alone. Blank lines before an event belong to it. */
export function speaks(frame: Buffer): boolean {
  let at = 0;
  while (frame[at] === LF || frame[at] === CR) at++;
  return at < frame.length && frame[at] !== COLON;
}

const blankLine = /\n\r?\n|\r\r/g;

/** Where the frame ends that begins at `start`, its blank line included; `text` has one character for each byte. */
export function frameEnd(text: string, start: number): number {
  blankLine.lastIndex = start;
  return blankLine.test(text) ? blankLine.lastIndex : text.length;
}

/** Reads the frames out of bytes that hold only complete frames. Comments and empty frames are passed over. */
export function readFrames(bytes: Buffer): SseFrame[] {
  const frames: SseFrame[] = [];
  let event: string | null = null;
  let data: string[] = [];
  const text = bytes.toString('utf8');
  // One byte order mark may stand before a stream.
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (const line of text.slice(start).split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data.length > 0) frames.push({ event, data: data.join('\n') });
      event = null;
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  }
  return frames;
}

/** A stream of bytes to frames: any split of the bytes gives the same frames. */
export class SseReader {
  private readonly splitter = new FrameSplitter();

  push(chunk: Buffer): SseFrame[] {
    const complete = this.splitter.push(chunk);
    return complete === null ? [] : readFrames(complete);
  }

  /** An unfinished last frame counts where the vendor closes without a blank line. */
  end(): SseFrame[] {
    const rest = this.splitter.rest();
    return rest === null ? [] : readFrames(Buffer.concat([rest, Buffer.from('\n\n')]));
  }

  get pendingBytes(): number {
    return this.splitter.pendingBytes;
  }
}
