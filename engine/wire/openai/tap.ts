/**
 * The tap of a relayed OpenAI stream: bytes pass as they came, only usage is read, and what the client must not see is
 * cut out (the usage chunk it did not ask for) or kept back (`[DONE]`, which waits for the journal).
 */
import type { SseFrame, StreamTap, VendorError } from '../../contract/chat.ts';
import type { TokenUsage } from '../../contract/usage.ts';
import { FrameSplitter, readFrames } from '../sse.ts';
import { readOpenAiError, readOpenAiUsage } from './usage.ts';

const LF = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACKET = 0x5d;
const usageKey = Buffer.from('"usage":');
const doneFrames = [
  Buffer.from('data: [DONE]\n\n'),
  Buffer.from('data: [DONE]\r\n\r\n'),
  Buffer.from('data:[DONE]\n\n'),
  Buffer.from('data: [DONE]'),
];
/** How many of the last pieces are kept for the verdict at the end: finish chunk, usage chunk, one more. */
const remembered = 3;

export class OpenAiTap implements StreamTap {
  begun = false;
  finished = false;
  usage: TokenUsage | null = null;
  estimatedOutput = 0;
  private readonly hidesUsage: boolean;
  private readonly splitter = new FrameSplitter();
  private last: Buffer[] = [];
  private failure: VendorError | null = null;

  constructor(hidesUsage: boolean) {
    this.hidesUsage = hidesUsage;
  }

  push(chunk: Buffer): Buffer | null {
    const frames = this.splitter.push(chunk);
    return frames === null ? null : this.take(frames);
  }

  flush(): Buffer | null {
    const rest = this.splitter.rest();
    if (rest === null) return null;
    // A last frame without its blank line: it is closed here, so that the client's parser sees it.
    return this.take(Buffer.concat([rest, Buffer.from('\n\n')]));
  }

  get error(): VendorError | null {
    return this.failure;
  }

  get complete(): boolean {
    return this.last.some((piece) => /"finish_reason"\s*:\s*"/.test(piece.toString('latin1')));
  }

  private take(frames: Buffer): Buffer | null {
    const bytes = this.withoutDone(frames);
    if (bytes === null) return null;
    if (!this.begun || startsWithError(bytes)) this.inspect(bytes);
    this.estimatedOutput += countFrames(bytes);
    this.last.push(bytes);
    if (this.last.length > remembered) this.last.shift();
    return bytes.indexOf(usageKey) < 0 ? bytes : this.readUsage(bytes);
  }

  /** Parses the first events, and those that look like an error. */
  private inspect(bytes: Buffer): void {
    for (const frame of readFrames(bytes)) {
      this.begun = true;
      const error = frame.data.startsWith('{') ? errorOf(frame) : null;
      if (error !== null) this.failure = error;
    }
  }

  private withoutDone(bytes: Buffer): Buffer | null {
    let end = bytes.length;
    while (bytes[end - 1] === LF || bytes[end - 1] === 0x0d) end--;
    if (bytes[end - 1] !== CLOSE_BRACKET) return bytes;
    for (const done of doneFrames) {
      const start = bytes.length - done.length;
      if (start < 0 || bytes.compare(done, 0, done.length, start) !== 0) continue;
      this.finished = true;
      return start === 0 ? null : bytes.subarray(0, start);
    }
    return bytes;
  }

  /** Only a frame with a `usage` object is parsed; `"usage":null` is in every chunk of some vendors. */
  private readUsage(bytes: Buffer): Buffer | null {
    let kept: Buffer[] | null = null;
    let copied = 0;
    for (let at = bytes.indexOf(usageKey); at >= 0; at = bytes.indexOf(usageKey, at + usageKey.length)) {
      let value = at + usageKey.length;
      while (bytes[value] === 0x20) value++;
      if (bytes[value] !== OPEN_BRACE) continue;
      const { start, end } = frameAround(bytes, at);
      const data = parseData(bytes.subarray(start, end));
      const usage = data === null ? null : readOpenAiUsage(data.usage);
      if (usage === null) continue;
      this.usage = usage;
      if (this.hidesUsage && Array.isArray(data!.choices) && data!.choices.length === 0) {
        kept ??= [];
        kept.push(bytes.subarray(copied, start));
        copied = end;
      }
      at = end - usageKey.length;
    }
    if (kept === null) return bytes;
    kept.push(bytes.subarray(copied));
    const rest = Buffer.concat(kept);
    return rest.length === 0 ? null : rest;
  }
}

/** Each frame of these streams carries about one token. */
function countFrames(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf('\n\n'); at >= 0; at = bytes.indexOf('\n\n', at + 2)) count++;
  if (count > 0) return count;
  for (let at = bytes.indexOf('\r\n\r\n'); at >= 0; at = bytes.indexOf('\r\n\r\n', at + 4)) count++;
  return count;
}

function startsWithError(bytes: Buffer): boolean {
  // `data: {"error"` or `event: error`: any other frame of these vendors begins with the id or the object.
  return (
    (bytes[0] === 0x65 && bytes.indexOf('event: error') === 0) ||
    (bytes[7] === 0x22 && bytes[8] === 0x65 && bytes[9] === 0x72) ||
    bytes.indexOf('\n\ndata: {"error"') >= 0
  );
}

function errorOf(frame: SseFrame): VendorError | null {
  try {
    return readOpenAiError(JSON.parse(frame.data));
  } catch {
    // A first event that is no JSON is no answer either.
    return { message: 'an event of the stream is not JSON', code: null, type: null, param: null, retryAfter: null };
  }
}

function parseData(frame: Buffer): { usage?: unknown; choices?: unknown } | null {
  const [first] = readFrames(frame);
  try {
    return first === undefined ? null : (JSON.parse(first.data) as { usage?: unknown; choices?: unknown });
  } catch {
    return null;
  }
}

/** The frame that holds the byte at `at`; its blank line belongs to it. */
function frameAround(bytes: Buffer, at: number): { start: number; end: number } {
  const before = Math.max(endOf(bytes.lastIndexOf('\n\n', at), 2), endOf(bytes.lastIndexOf('\r\n\r\n', at), 4));
  const ends = [endOf(bytes.indexOf('\n\n', at), 2), endOf(bytes.indexOf('\r\n\r\n', at), 4)].filter((end) => end > 0);
  return { start: before, end: ends.length === 0 ? bytes.length : Math.min(...ends) };
}

function endOf(index: number, length: number): number {
  return index < 0 ? 0 : index + length;
}
