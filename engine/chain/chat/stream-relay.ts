/**
 * A vendor's stream on its way to the client. A status goes out only when the first event is known to be no error: what
 * comes before is kept back.
 */
import type { StreamTap } from '../../contract/chat.ts';
import type { VendorError } from '../../contract/wire.ts';
import { type Failure, malformed } from '../../upstream/failure.ts';
import { plainError } from '../../wire/vendor-error.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Collected } from './collected.ts';

const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'];
/** Comments before the first event are kept back up to here. */
const largestPreface = 64 * 1024;

/** The attempt that a stream belongs to: whatever decides over a channel or ends the request is its business. */
export interface StreamOwner {
  /** The first bytes go out. */
  began(): void;
  /** `last`: what still goes out before the closing marker. */
  completed(tap: StreamTap, last: Buffer | null): void;
  /** An error event of the vendor's, before anything went out. */
  refused(error: VendorError): void;
  /** The stream broke after something went out. */
  broke(error: VendorError): void;
  /** No stream of its protocol, or none at all. */
  breakOff(failure: Failure): void;
  /** The client is ready for more. */
  resume(): void;
}

export class StreamRelay {
  readonly tap: StreamTap;
  /** The vendor had to wait for the client: if it breaks off then, that says nothing about its channel. */
  heldBack = false;
  private readonly owner: StreamOwner;
  private readonly exchange: LiveExchange;
  private readonly contentType: string;
  /** What goes out with the first event. */
  private readonly preface: Collected;

  constructor(owner: StreamOwner, exchange: LiveExchange, tap: StreamTap, contentType: string, preface: Collected) {
    this.owner = owner;
    this.exchange = exchange;
    this.tap = tap;
    this.contentType = contentType;
    this.preface = preface;
  }

  /** False pauses the vendor. */
  push(chunk: Buffer): boolean {
    const { exchange, owner, tap } = this;
    let out: Buffer | null;
    try {
      out = tap.push(chunk);
    } catch (error) {
      this.unreadable(error);
      return true;
    }
    if (!exchange.reply.begun && !exchange.aborted) return this.firstEvent(out);
    if (tap.finished) owner.completed(tap, out);
    else if (tap.error !== null) this.broke(tap.error, out);
    else if (out !== null) return this.write(out);
    return true;
  }

  /** The vendor's connection has nothing more. */
  end(): void {
    const { exchange, owner, tap } = this;
    let rest: Buffer | null;
    try {
      rest = tap.flush();
    } catch (error) {
      return this.unreadable(error);
    }
    if (!exchange.reply.begun && !exchange.aborted) return this.endedUnseen(rest);
    if (tap.error !== null) this.broke(tap.error, rest);
    else if (tap.complete) owner.completed(tap, rest);
    else this.broke(plainError('The vendor’s stream ended early.'), rest);
  }

  write(bytes: Buffer): boolean {
    const { reply } = this.exchange;
    reply.capture?.data(bytes);
    if (reply.write(bytes)) return true;
    this.heldBack = true;
    reply.drained(() => this.owner.resume());
    return false;
  }

  private firstEvent(out: Buffer | null): boolean {
    const { preface, tap } = this;
    if (tap.error !== null) {
      this.owner.refused(tap.error);
      return true;
    }
    if (out !== null) preface.add(out);
    if (tap.finished) this.endedUnseen(null);
    else if (preface.length > 0 && (tap.begun || preface.length >= largestPreface)) return this.write(this.begin()!);
    return true;
  }

  /** The stream is over and nothing went out: all of a short answer may be in what closes it. */
  private endedUnseen(rest: Buffer | null): void {
    const { owner, preface, tap } = this;
    if (rest !== null) preface.add(rest);
    if (tap.error !== null) return owner.refused(tap.error);
    if (!tap.complete && (preface.length === 0 || !tap.finished))
      return owner.breakOff(malformed(preface.length === 0 ? 'an empty stream' : 'the stream ended before an answer'));
    owner.completed(tap, this.begin());
  }

  /** The head goes out; answers what was kept back until now, or null. */
  private begin(): Buffer | null {
    const { contentType, exchange, preface, tap } = this;
    this.owner.began();
    exchange.encodeStreamError = (error, requestId) => tap.encodeError(error, requestId);
    exchange.reply.capture?.head(200, contentType);
    exchange.reply.stage(200, contentType, streamHeaders);
    return preface.length === 0 ? null : preface.all();
  }

  private broke(error: VendorError, last: Buffer | null): void {
    if (last !== null) this.write(last);
    this.owner.broke(error);
  }

  /** A tap that throws has met something that is no stream of its protocol. */
  private unreadable(error: unknown): void {
    this.owner.breakOff(malformed(error instanceof Error ? error.message : String(error)));
  }
}
