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
import { parsedJson } from '../parse-json.ts';
import { saidTokens } from '../said-tokens.ts';
import { FrameSplitter, frameEnd, readFrames, speaks } from '../sse.ts';
import { plainError } from '../vendor-error.ts';
import { isObject } from './fields.ts';
import { openAiStreamError } from './reply.ts';
import { readOpenAiError, readOpenAiUsage } from './usage.ts';

/** What a frame worth parsing holds. `"usage":null` and `"finish_reason":""` are in every chunk of some vendors. */
const telling = /"usage"\s*:\s*\{|"error"\s*:\s*[^\sn]|"finish_reason"\s*:\s*"[^"]|\[DONE\]|event:\s?error/;
/** The same, or more than one frame. One test on a copy of the text costs less than one search in a Buffer. */
const tellingOrSeveral = new RegExp(`${telling.source}|\\n\\r?\\n[^\\r\\n]|\\r\\r[^\\r\\n]`);

type Verdict = 'pass' | 'hide' | 'end';

const done = Buffer.from('data: [DONE]\n\n');

export class OpenAiTap implements StreamTap {
  begun = false;
  finished = false;
  complete = false;
  usage: TokenUsage | null = null;
  error: VendorError | null = null;
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
    if (speaks(bytes)) this.estimatedOutput += saidTokens(text);
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
      if (speaks(bytes)) this.estimatedOutput += saidTokens(text);
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
    const data = parsedJson(frame.data);
    this.error = errorOf(frame, data, isFirst);
    if (this.error !== null) return 'end';
    return data === undefined || !isObject(data) ? 'pass' : this.readChunk(data, frame.data);
  }

  private readChunk(data: JsonObject, text: string): Verdict {
    const usage = readOpenAiUsage(data.usage);
    if (usage !== null) this.usage = usage;
    const choices = Array.isArray(data.choices) ? data.choices : [];
    if (choices.some(hasFinished)) this.complete = true;
    if (usage !== null && choices.length === 0) return this.hidesUsage ? 'hide' : 'pass';
    this.estimatedOutput += saidTokens(text);
    return 'pass';
  }
}

const hasFinished = (choice: JsonValue): boolean =>
  isObject(choice) && typeof choice.finish_reason === 'string' && choice.finish_reason !== '';

const isWhole = ({ data }: SseFrame): boolean => data === '[DONE]' || parsedJson(data) !== undefined;

function errorOf(frame: SseFrame, data: JsonValue | undefined, isFirst: boolean): VendorError | null {
  const reported = data === undefined ? null : readOpenAiError(data);
  if (reported !== null) return reported;
  if (frame.event === 'error') return plainError(frame.data.slice(0, 1000));
  // A first event that is no JSON is no answer either.
  return isFirst && data === undefined ? plainError('an event of the stream is not JSON') : null;
}
