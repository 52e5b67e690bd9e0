/**
 * The tap of a relayed stream of events: bytes pass as they came while a protocol's reader looks at each frame. The last
 * frame of a stream waits until the charge is in the journal.
 */
import type { StreamTap } from '../contract/chat.ts';
import type { TokenUsage } from '../contract/usage.ts';
import type { VendorError } from '../contract/wire.ts';
import type { GatewayError } from '../errors.ts';
import { parsedJson } from './parse-json.ts';
import { FrameSplitter, frameEnd, readFrames, speaks } from './sse.ts';
import { plainError } from './vendor-error.ts';

/** What a reader has seen so far. */
export interface StreamNotes {
  /** The protocol's last event was seen: nothing that follows counts. */
  finished: boolean;
  /** A clean end here would be a whole answer. */
  complete: boolean;
  usage: TokenUsage | null;
  /** An error event: it is said in the engine's words, and the stream ends. */
  error: VendorError | null;
  /** About so many tokens were said. */
  estimatedOutput: number;
  images: number;
}

/**
 * Looks at one frame. `text` has one character for each byte, enough to tell what it is; `parse` answers its data as
 * JSON, undefined where it is none. `hold`: the frame may be the last one and waits for the next or for the end.
 */
export type FrameReader = (text: string, notes: StreamNotes, parse: () => unknown) => 'pass' | 'hold';

export class FrameTap implements StreamTap {
  begun = false;
  private readonly notes: StreamNotes = {
    finished: false,
    complete: false,
    usage: null,
    error: null,
    estimatedOutput: 0,
    images: 0,
  };
  private readonly splitter = new FrameSplitter();
  private readonly read: FrameReader;
  private readonly writeError: (error: GatewayError, requestId: string) => string;
  private held: Buffer[] = [];

  constructor(read: FrameReader, writeError: (error: GatewayError, requestId: string) => string) {
    this.read = read;
    this.writeError = writeError;
  }

  get finished(): boolean {
    return this.notes.finished;
  }
  get complete(): boolean {
    return this.notes.complete;
  }
  get usage(): TokenUsage | null {
    return this.notes.usage;
  }
  get error(): VendorError | null {
    return this.notes.error;
  }
  get estimatedOutput(): number {
    return this.notes.estimatedOutput;
  }
  get images(): number {
    return this.notes.images;
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
    return readFrames(closed).every(({ data }) => parsedJson(data) !== undefined) ? this.take(closed) : null;
  }

  closing(): Buffer {
    return this.held.length === 1 ? this.held[0]! : Buffer.concat(this.held);
  }

  encodeError(error: GatewayError, requestId: string): string {
    return this.writeError(error, requestId);
  }

  private take(bytes: Buffer): Buffer | null {
    const text = bytes.toString('latin1');
    const out: Buffer[] = [];
    // Frames that pass one after another go out as one slice.
    let from = 0;
    let start = 0;
    while (start < bytes.length && !this.notes.finished) {
      const end = frameEnd(text, start);
      const verdict = this.judge(bytes.subarray(start, end), text.slice(start, end));
      if (this.notes.error !== null) break;
      if (verdict === 'hold') {
        if (from < start) out.push(bytes.subarray(from, start));
        this.held.push(bytes.subarray(start, end));
        from = end;
      } else if (this.held.length > 0) out.push(...this.held.splice(0));
      start = end;
    }
    if (from === 0 && start === bytes.length && out.length === 0) return bytes;
    if (from < start) out.push(bytes.subarray(from, start));
    return out.length === 0 ? null : Buffer.concat(out);
  }

  private judge(frame: Buffer, text: string): 'pass' | 'hold' {
    if (!speaks(frame)) return 'pass';
    const parse = () => {
      const [read] = readFrames(frame);
      return read === undefined ? undefined : parsedJson(read.data);
    };
    if (!this.begun && parse() === undefined) {
      this.notes.error = plainError('an event of the stream is not JSON');
      return 'pass';
    }
    this.begun = true;
    return this.read(text, this.notes, parse);
  }
}
