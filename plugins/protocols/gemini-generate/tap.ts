/** Taps of a relayed stream: what each frame tells, and the array form for clients that did not ask for events. */
import {
  FrameTap,
  type GatewayError,
  googleError,
  isObject,
  type JsonValue,
  plainError,
  readFrames,
  readGoogleError,
  type StreamNotes,
  type StreamTap,
} from '../../../engine/plugin.ts';
import { estimateIn, imagesIn, isFinal, usageIn } from './answer-facts.ts';
import type { FrameWriter } from './frames.ts';

/** What a frame worth parsing holds. */
const telling = /"(?:finishReason|candidatesTokenCount|thoughtsTokenCount|blockReason|inlineData|error)"\s*:/;
const said = /"text"\s*:\s*"((?:[^"\\]|\\.)*)"/g;

export function createTap(): StreamTap {
  let begun = false;
  return new FrameTap((text, notes, parse) => {
    if (begun && !telling.test(text)) {
      for (const [, piece] of text.matchAll(said)) notes.estimatedOutput += Math.ceil(piece!.length / 4);
      return 'pass';
    }
    const value = parse() as JsonValue | undefined;
    // A first event that is no JSON is no answer.
    if (value === undefined && !begun) notes.error = plainError('an event of the stream is not JSON');
    begun = true;
    return value === undefined ? 'pass' : note(value, notes);
  }, streamError);
}

function note(value: JsonValue, notes: StreamNotes): 'pass' | 'hold' {
  notes.error = readGoogleError(value);
  if (notes.error !== null || !isObject(value)) return 'pass';
  notes.usage = usageIn(value) ?? notes.usage;
  notes.images += imagesIn(value);
  notes.estimatedOutput += estimateIn(value);
  if (!isFinal(value)) return 'pass';
  notes.complete = true;
  return 'hold';
}

const streamError = (error: GatewayError, requestId: string): string =>
  `data: ${JSON.stringify(googleError(error, requestId))}\n\n`;

/** The vendor's events as elements of one array; the bytes of each element stay as they came. */
export class ArrayTap implements StreamTap {
  private readonly inner: StreamTap;
  private readonly frames: FrameWriter;

  constructor(inner: StreamTap, frames: FrameWriter) {
    this.inner = inner;
    this.frames = frames;
  }

  get begun() {
    return this.inner.begun;
  }
  get finished() {
    return this.inner.finished;
  }
  get complete() {
    return this.inner.complete;
  }
  get usage() {
    return this.inner.usage;
  }
  get error() {
    return this.inner.error;
  }
  get estimatedOutput() {
    return this.inner.estimatedOutput;
  }
  get images() {
    return this.inner.images ?? 0;
  }

  push(chunk: Buffer): Buffer | null {
    return this.reframe(this.inner.push(chunk));
  }

  flush(): Buffer | null {
    return this.reframe(this.inner.flush());
  }

  closing(): Buffer {
    const last = this.reframe(this.inner.closing()) ?? Buffer.alloc(0);
    return Buffer.concat([last, Buffer.from(this.frames.end())]);
  }

  encodeError(error: GatewayError, requestId: string): string {
    return this.frames.frame(JSON.stringify(googleError(error, requestId))) + this.frames.end();
  }

  private reframe(bytes: Buffer | null): Buffer | null {
    if (bytes === null) return null;
    const text = readFrames(bytes)
      .map(({ data }) => this.frames.frame(data))
      .join('');
    return text === '' ? null : Buffer.from(text);
  }
}
