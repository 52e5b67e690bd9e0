/**
 * The tap of a relayed OpenAI stream: bytes pass as they came, only usage is read, and what the client must not see is
 * cut out (the usage chunk it did not ask for) or kept back (`[DONE]`, which waits for the journal; an error, which the
 * engine says in its own words).
 */
import type { StreamTap } from '../../contract/chat.ts';
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { SseFrame, VendorError } from '../../contract/wire.ts';
import type { GatewayError } from '../../errors.ts';
import { FrameSplitter, readFrames } from '../sse.ts';
import { isObject } from './fields.ts';
import { openAiStreamError } from './reply.ts';
import { readOpenAiError, readOpenAiUsage } from './usage.ts';

const COLON = 0x3a;
const LF = 0x0a;
const CR = 0x0d;
/** What a frame worth parsing holds. `"usage":null` and `"finish_reason":""` are in every chunk of some vendors. */
const telling = /"usage"\s*:\s*\{|"error"\s*:\s*[^\sn]|"finish_reason"\s*:\s*"[^"]|\[DONE\]|event:\s?error/;
/** The same, or more than one frame. One test on a copy of the text costs less than one search in a Buffer. */
const tellingOrSeveral = new RegExp(`${telling.source}|\\n\\r?\\n[^\\r\\n]|\\r\\r[^\\r\\n]`);
const blankLine = /\n\r?\n|\r\r/g;

type Verdict = 'pass' | 'hide' | 'end';

const done = Buffer.from('data: [DONE]\n\n');

export class OpenAiTap implements StreamTap {
  begun = false;
  finished = false;
  complete = false;
  usage: TokenUsage | null = null;
  error: VendorError | null = null;
  /** Each frame of these streams carries about one token. */
  estimatedOutput = 0;
  private readonly hidesUsage: boolean;
  private readonly splitter = new FrameSplitter();

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
    // A last frame that lacks only its blank line is closed here; one that broke off would break the client's parser.
    const closed = Buffer.concat([rest, Buffer.from('\n\n')]);
    return readFrames(closed).every(isWhole) ? this.take(closed) : null;
  }

  closing(): Buffer {
    return done;
  }

  encodeError(error: GatewayError, requestId: string): string {
    return openAiStreamError(error, requestId);
  }

  private take(bytes: Buffer): Buffer | null {
    if (this.finished || this.error !== null) return null;
    const text = bytes.toString('latin1');
    if (!this.begun || tellingOrSeveral.test(text)) return this.sift(bytes, text);
    if (speaks(bytes)) this.estimatedOutput++;
    return bytes;
  }

  /** Frame by frame; `text` has one character for each byte. */
  private sift(bytes: Buffer, text: string): Buffer | null {
    const kept: Buffer[] = [];
    let copied = 0;
    for (let start = 0; start < bytes.length; ) {
      const end = frameEnd(text, start);
      const verdict = this.judge(bytes.subarray(start, end), text.slice(start, end));
      if (verdict !== 'pass') {
        kept.push(bytes.subarray(copied, start));
        copied = end;
      }
      if (verdict === 'end') {
        copied = bytes.length;
        break;
      }
      start = end;
    }
    if (copied === 0) return bytes;
    kept.push(bytes.subarray(copied));
    const rest = Buffer.concat(kept);
    return rest.length === 0 ? null : rest;
  }

  private judge(bytes: Buffer, text: string): Verdict {
    if (this.begun && !telling.test(text)) {
      if (speaks(bytes)) this.estimatedOutput++;
      return 'pass';
    }
    const [frame] = readFrames(bytes);
    return frame === undefined ? 'pass' : this.read(frame);
  }

  private read(frame: SseFrame): Verdict {
    const isFirst = !this.begun;
    this.begun = true;
    if (frame.data === '[DONE]') {
      this.finished = true;
      return 'end';
    }
    const data = parse(frame.data);
    this.error = errorOf(frame, data, isFirst);
    if (this.error !== null) return 'end';
    return data === undefined || !isObject(data) ? 'pass' : this.readChunk(data);
  }

  private readChunk(data: JsonObject): Verdict {
    const usage = readOpenAiUsage(data.usage);
    if (usage !== null) this.usage = usage;
    const choices = Array.isArray(data.choices) ? data.choices : [];
    if (choices.some(hasFinished)) this.complete = true;
    if (usage !== null && choices.length === 0) return this.hidesUsage ? 'hide' : 'pass';
    this.estimatedOutput++;
    return 'pass';
  }
}

/** Neither a comment nor blank lines alone. Blank lines before an event belong to it. */
function speaks(frame: Buffer): boolean {
  let at = 0;
  while (frame[at] === LF || frame[at] === CR) at++;
  return at < frame.length && frame[at] !== COLON;
}

/** Behind the blank line that closes the frame at `start`. */
function frameEnd(text: string, start: number): number {
  blankLine.lastIndex = start;
  return blankLine.test(text) ? blankLine.lastIndex : text.length;
}

const hasFinished = (choice: JsonValue): boolean =>
  isObject(choice) && typeof choice.finish_reason === 'string' && choice.finish_reason !== '';

function parse(data: string): JsonValue | undefined {
  try {
    return JSON.parse(data) as JsonValue;
  } catch {
    return undefined;
  }
}

const isWhole = ({ data }: SseFrame): boolean => data === '[DONE]' || parse(data) !== undefined;

function errorOf(frame: SseFrame, data: JsonValue | undefined, isFirst: boolean): VendorError | null {
  const reported = data === undefined ? null : readOpenAiError(data);
  if (reported !== null) return reported;
  if (frame.event === 'error') return plainError(frame.data.slice(0, 1000));
  // A first event that is no JSON is no answer either.
  return isFirst && data === undefined ? plainError('an event of the stream is not JSON') : null;
}

function plainError(message: string): VendorError {
  return { message, code: null, type: null, param: null, retryAfter: null };
}
