/**
 * One chat request at its vendors: relayed or translated, whole or streamed. Written as callbacks, since a promise per
 * chunk would cost more than the rest. A status goes to the client only when the first event is known to be no error.
 */
import type { ChatCall, StreamTap } from '../../contract/chat.ts';
import type { Outcome, TokenUsage, Usage } from '../../contract/usage.ts';
import { noUsage } from '../../contract/usage.ts';
import type { JsonValue, Log } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { codecFailure, type Failure, malformed, transportFailure, vendorFailure } from '../../upstream/failure.ts';
import { headerValue, retryAfterSeconds } from '../../upstream/headers.ts';
import type { RawHeaders, Receiver, Sending, TransportFailure, UpstreamRequest } from '../../upstream/pools.ts';
import { isEventStream } from '../../wire/sse.ts';
import { plainError } from '../../wire/vendor-error.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { chatRequest } from '../upstream-request.ts';

const largestReply = 64 * 1024 * 1024;
const largestError = 256 * 1024;
const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'];
/** Comments before the first event are kept back up to here. */
const largestPreface = 64 * 1024;

export class ChatAttempts implements Receiver {
  private readonly exchange: LiveExchange;
  private readonly call: ChatCall;
  /** Of a streamed answer. */
  private readonly contentType: string;
  private readonly ending: Ending;
  private readonly attempts: Attempts;
  private current: Try | null = null;
  private sending: Sending | null = null;
  private mode: 'whole' | 'stream' | 'error' = 'whole';
  private status = 0;
  private retryAfter: number | null = null;
  private chunks: Buffer[] = [];
  private length = 0;
  private tap: StreamTap | null = null;
  private over = false;

  constructor(exchange: LiveExchange, call: ChatCall, contentType: string, ending: Ending, log: Log) {
    this.exchange = exchange;
    this.call = call;
    this.contentType = contentType;
    this.ending = ending;
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.failover, log);
    exchange.onAbort(() => this.clientLeft());
  }

  /** Tries the next channel. */
  start(): void {
    if (this.over) return;
    const next = this.attempts.next();
    if (next instanceof GatewayError) return this.fail(next);
    this.current = next;
    this.status = 0;
    this.retryAfter = null;
    this.tap = null;
    this.chunks = [];
    this.length = 0;
    const { target, credential } = next;
    let request: UpstreamRequest;
    try {
      request = chatRequest(this.exchange, this.call, target, credential);
    } catch (error) {
      const unsaid = toGatewayError(error);
      this.current = null;
      // A fault of ours is no reason to go on.
      if (unsaid.status !== 400) {
        this.attempts.abandoned(next);
        return this.fail(unsaid);
      }
      this.attempts.unfit(next, unsaid);
      return this.start();
    }
    this.sending = target.connections.send(request, this);
  }

  onHead(status: number, headers: RawHeaders): void {
    this.status = status;
    if (status >= 300) {
      this.mode = 'error';
      this.retryAfter = retryAfterSeconds(headers, Date.now());
      return;
    }
    const isEvents = this.call.stream && isEventStream(headerValue(headers, 'content-type'));
    this.mode = isEvents ? 'stream' : 'whole';
    if (isEvents) this.tap = this.current!.target.bridge!.stream(this.exchange, this.call);
  }

  onData(chunk: Buffer): boolean {
    if (this.mode === 'stream') return this.relay(chunk);
    this.length += chunk.length;
    if (this.length <= (this.mode === 'error' ? largestError : largestReply)) this.chunks.push(chunk);
    // The status of an error says enough without its endless body.
    else if (this.mode === 'error') this.breakOff(this.readError(Buffer.alloc(0)));
    else this.breakOff(malformed('the answer is too large', this.status));
    return true;
  }

  onEnd(): void {
    if (this.over) return;
    if (this.mode === 'stream') return this.streamEnded();
    const body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.length);
    if (this.mode === 'error') return this.failed(this.readError(body));
    this.wholeEnded(body);
  }

  onBroken(failure: TransportFailure): void {
    this.failed(transportFailure(failure));
  }

  /** The whole-request deadline has passed. */
  expire(): void {
    if (this.over) return;
    // It may be the one probe of a channel that rested: without a verdict the next request probes.
    if (this.current !== null) this.attempts.abandoned(this.current);
    this.stopUpstream();
    this.fail(
      new GatewayError('upstream_timeout', `No complete answer within ${this.exchange.route.timeout / 1000} s.`),
    );
  }

  private relay(chunk: Buffer): boolean {
    // What comes behind the closing marker is no part of the answer: a vendor that goes on is cut off.
    if (this.over) {
      this.stopUpstream();
      return true;
    }
    const tap = this.tap!;
    let out: Buffer | null;
    try {
      out = tap.push(chunk);
    } catch (error) {
      this.unreadable(error);
      return true;
    }
    if (this.exchange.reply.begun || this.exchange.aborted) {
      if (tap.finished) this.complete(out);
      else if (tap.error !== null) this.brokenStream(tap.error, out);
      else if (out !== null) return this.write(out);
      return true;
    }
    return this.firstEvent(tap, out);
  }

  /** A tap that throws has met something that is no stream of its protocol. */
  private unreadable(error: unknown): void {
    this.breakOff(malformed(error instanceof Error ? error.message : String(error)));
  }

  private firstEvent(tap: StreamTap, out: Buffer | null): boolean {
    if (tap.error !== null) {
      this.breakOff(this.inBand(tap.error));
      return true;
    }
    if (out !== null) {
      this.chunks.push(out);
      this.length += out.length;
    }
    if (!tap.begun && this.length < largestPreface && !tap.finished) return true;
    if (this.length === 0) {
      if (tap.finished) this.finishedUnseen(tap);
      return true;
    }
    const first = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.length);
    this.begin(tap);
    if (!tap.finished) return this.write(first);
    this.complete(first);
    return true;
  }

  /** The stream is over and nothing went out: all of a short answer may be in what closes it. */
  private finishedUnseen(tap: StreamTap): void {
    if (!tap.complete) return this.breakOff(malformed('an empty stream'));
    this.begin(tap);
    this.complete(null);
  }

  private begin(tap: StreamTap): void {
    const { contentType, exchange } = this;
    this.attempts.begun(this.current!, this.status);
    exchange.encodeStreamError = (error, requestId) => tap.encodeError(error, requestId);
    exchange.reply.capture?.head(200, contentType);
    exchange.reply.stage(200, contentType, streamHeaders);
  }

  private write(bytes: Buffer): boolean {
    const { reply } = this.exchange;
    reply.capture?.data(bytes);
    if (reply.write(bytes)) return true;
    reply.drained(() => this.sending?.resume());
    return false;
  }

  private streamEnded(): void {
    const tap = this.tap!;
    let rest: Buffer | null;
    try {
      rest = tap.flush();
    } catch (error) {
      return this.unreadable(error);
    }
    if (!this.exchange.reply.begun && !this.exchange.aborted) {
      if (rest !== null) {
        this.chunks.push(rest);
        this.length += rest.length;
      }
      if (tap.error !== null) return this.failed(this.inBand(tap.error));
      if (!tap.complete)
        return this.failed(malformed(this.length === 0 ? 'an empty stream' : 'the stream ended before an answer'));
      if (this.length === 0) return this.finishedUnseen(tap);
      this.firstEvent(tap, null);
      return this.complete(null);
    }
    if (tap.error !== null) return this.brokenStream(tap.error, rest);
    if (tap.complete) return this.complete(rest);
    this.brokenStream(plainError('The vendor’s stream ended early.'), rest);
  }

  /** The stream went well to its end: the closing marker waits until the charge is in the journal. */
  private complete(last: Buffer | null): void {
    this.over = true;
    if (last !== null) this.write(last);
    this.attempts.succeeded(this.current!, this.status);
    if (this.exchange.aborted) return this.ending.leave(this.exchange, this.abortOutcome());
    const outcome: Outcome = { kind: 'ok', status: 200, code: null, usage: this.streamUsage() };
    const closing = this.tap!.closing();
    this.kept(closing, true, () => this.ending.complete(this.exchange, outcome, closing));
  }

  private brokenStream(error: VendorError, last: Buffer | null): void {
    if (last !== null) this.write(last);
    this.stopUpstream();
    const failure = vendorFailure(this.current!.target.channel.vendor, 502, error, null);
    this.attempts.failedWith(this.current!, failure);
    this.fail(failure.error);
  }

  private wholeEnded(body: Buffer): void {
    const target = this.current!.target;
    let reply: ReturnType<NonNullable<typeof target.bridge>['reply']>;
    try {
      reply = target.bridge!.reply(this.exchange, this.call, body);
    } catch (error) {
      return this.failed(
        error instanceof GatewayError
          ? codecFailure(error)
          : malformed(error instanceof Error ? error.message : String(error), this.status),
      );
    }
    if (reply.error !== null) return this.failed(this.inBand(reply.error));
    if (this.call.stream) return this.failed(malformed('a whole answer to a request for a stream', this.status));
    this.attempts.succeeded(this.current!, this.status);
    this.over = true;
    const usage = this.usageFrom(reply.usage, reply.estimatedOutput, reply.images ?? 0);
    const outcome: Outcome = this.exchange.aborted
      ? { kind: 'aborted', status: 499, code: null, usage }
      : { kind: 'ok', status: 200, code: null, usage };
    this.kept(reply.body, false, () => this.ending.sendWhole(this.exchange, outcome, reply.body));
  }

  /** What later requests go on from is kept before the client has the last byte. */
  private kept(answer: Buffer, streamed: boolean, send: () => void): void {
    const { keepAnswer } = this.exchange;
    if (keepAnswer === null) return send();
    const { target, credential } = this.current!;
    void keepAnswer(answer, streamed, target, credential).then(send);
  }

  /** An error object inside a 200. */
  private inBand(error: VendorError): Failure {
    return vendorFailure(this.current!.target.channel.vendor, 200, error, this.retryAfter);
  }

  private readError(body: Buffer): Failure {
    const { target } = this.current!;
    let reported: VendorError | null = null;
    try {
      reported = target.bridge!.decodeError(JSON.parse(body.toString('utf8')) as JsonValue);
    } catch {
      // Proxies in front of vendors answer HTML: the status says all there is.
    }
    return vendorFailure(target.channel.vendor, this.status, reported, this.retryAfter);
  }

  /** Gives the attempt up from our side. */
  private breakOff(failure: Failure): void {
    this.stopUpstream();
    this.failed(failure);
  }

  private failed(failure: Failure): void {
    if (this.over) return;
    if (this.exchange.reply.begun) {
      this.attempts.failedWith(this.current!, failure);
      return this.fail(failure.error);
    }
    const goOn = this.attempts.failedWith(this.current!, failure);
    if (this.exchange.aborted) return this.finishAborted();
    if (goOn) this.start();
    else this.fail(failure.error);
  }

  private fail(error: GatewayError): void {
    if (this.over) return;
    this.over = true;
    // What the client already has of a broken stream was used.
    const usage = this.exchange.reply.begun ? this.streamUsage() : noUsage;
    this.ending.fail(this.exchange, error, usage);
  }

  private clientLeft(): void {
    if (this.over) return;
    // Where the answer is still wanted, nobody else would wake a vendor that waits for this client to read.
    if (this.current !== null && this.current.target.channel.onAbort !== 'cancel') return this.sending?.resume();
    if (this.current !== null) this.attempts.abandoned(this.current);
    this.stopUpstream();
    this.finishAborted();
  }

  private finishAborted(): void {
    if (this.over) return;
    this.over = true;
    this.ending.leave(this.exchange, this.abortOutcome());
  }

  private abortOutcome(): Outcome {
    return { kind: 'aborted', status: 499, code: null, usage: this.tap === null ? noUsage : this.streamUsage() };
  }

  private streamUsage(): Usage {
    const { tap } = this;
    return this.usageFrom(tap?.usage ?? null, tap?.estimatedOutput ?? 0, tap?.images ?? 0);
  }

  private usageFrom(reported: TokenUsage | null, output: number, images: number): Usage {
    // Written out: spreading two objects costs more than the rest of a settlement.
    const { input, cachedInput, cacheWrite, output: said, reasoning } = reported ?? this.estimated(output);
    const source = reported === null ? 'estimated' : 'measured';
    return {
      input,
      cachedInput,
      cacheWrite,
      output: said,
      reasoning,
      images,
      seconds: 0,
      characters: 0,
      searchUnits: 0,
      audioInput: 0,
      audioOutput: 0,
      source,
    };
  }

  private estimated(output: number): TokenUsage {
    return { ...noUsage, input: Math.ceil(this.exchange.body.length / 4), output };
  }

  private stopUpstream(): void {
    this.sending?.abort();
  }
}
