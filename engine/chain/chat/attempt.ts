/**
 * One chat request at its vendors: relayed or translated, whole or streamed. Written as callbacks, since a promise per
 * chunk would cost more than the rest.
 */
import type { ChatCall, StreamTap } from '../../contract/chat.ts';
import type { Outcome, Usage } from '../../contract/usage.ts';
import { noUsage } from '../../contract/usage.ts';
import type { Log } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { answerTooLarge, type Failure, malformed, transportFailure, vendorFailure } from '../../upstream/failure.ts';
import { headerValue, retryAfterSeconds } from '../../upstream/headers.ts';
import type { RawHeaders, Receiver, Sending, TransportFailure, UpstreamRequest } from '../../upstream/pools.ts';
import { isEventStream } from '../../wire/sse.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { WholeReply } from '../bridge.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { chatRequest } from '../upstream-request.ts';
import { Collected } from './collected.ts';
import { type StreamOwner, StreamRelay } from './stream-relay.ts';
import { chatUsage, streamUsage } from './usage.ts';
import { errorReply, largestError, largestReply, unreadableReply } from './whole-answer.ts';

export class ChatAttempts implements Receiver, StreamOwner {
  private readonly exchange: LiveExchange;
  private readonly call: ChatCall;
  /** Of a streamed answer. */
  private readonly contentType: string;
  private readonly ending: Ending;
  private readonly attempts: Attempts;
  private current: Try | null = null;
  private sending: Sending | null = null;
  private status = 0;
  private retryAfter: number | null = null;
  /** Of a whole answer or an error; of a stream, what comes before its first event. */
  private readonly received = new Collected();
  private stream: StreamRelay | null = null;
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
    this.stream = null;
    this.received.clear();
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
    if (status >= 300) this.retryAfter = retryAfterSeconds(headers, Date.now());
    else if (this.call.stream && isEventStream(headerValue(headers, 'content-type'))) {
      const tap = this.current!.target.bridge!.stream(this.exchange, this.call);
      this.stream = new StreamRelay(this, this.exchange, tap, this.contentType, this.received);
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.stream === null) this.collect(chunk);
    else if (!this.over) return this.stream.push(chunk);
    // What comes behind the closing marker is no part of the answer: a vendor that goes on is cut off.
    else this.stopUpstream();
    return true;
  }

  onEnd(): void {
    if (this.over) return;
    if (this.stream !== null) this.stream.end();
    else if (this.status >= 300) this.failed(this.readError(this.received.all()));
    else this.wholeEnded(this.received.all());
  }

  onBroken(failure: TransportFailure): void {
    this.failed(transportFailure(failure));
  }

  began(): void {
    this.attempts.begun(this.current!, this.status);
  }

  /** The stream went well to its end. */
  completed(tap: StreamTap, last: Buffer | null): void {
    this.over = true;
    if (last !== null) this.stream!.write(last);
    this.attempts.succeeded(this.current!, this.status);
    this.conclude(tap);
  }

  /** The closing marker waits until the charge is in the journal. */
  private conclude(tap: StreamTap): void {
    if (this.exchange.aborted) return this.ending.leave(this.exchange, this.abortOutcome());
    const outcome: Outcome = { kind: 'ok', status: 200, code: null, usage: this.streamUsage() };
    const closing = tap.closing();
    this.kept(closing, true, () => this.ending.complete(this.exchange, outcome, closing));
  }

  refused(error: VendorError): void {
    this.breakOff(this.inBand(error));
  }

  broke(error: VendorError): void {
    this.stopUpstream();
    this.failedBegun(vendorFailure(this.current!.target.channel.vendor, 502, error, null));
  }

  private failedBegun(failure: Failure): void {
    if (this.stream?.heldBack === true) this.attempts.abandoned(this.current!);
    else this.attempts.failedWith(this.current!, failure);
    this.fail(failure.error);
  }

  /** Gives the attempt up from our side. */
  breakOff(failure: Failure): void {
    this.stopUpstream();
    this.failed(failure);
  }

  resume(): void {
    this.sending?.resume();
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

  private collect(chunk: Buffer): void {
    const { received, status } = this;
    const isError = status >= 300;
    if (received.length + chunk.length <= (isError ? largestError : largestReply)) received.add(chunk);
    // The status of an error says enough without its endless body.
    else if (isError) this.breakOff(this.readError(Buffer.alloc(0)));
    else this.breakOff(answerTooLarge('The answer is larger than 64 MB. Ask for less at a time, or for a stream.'));
  }

  private wholeEnded(body: Buffer): void {
    let reply: WholeReply;
    try {
      reply = this.current!.target.bridge!.reply(this.exchange, this.call, body);
    } catch (error) {
      return this.failed(unreadableReply(error, this.status));
    }
    if (reply.error !== null) return this.failed(this.inBand(reply.error));
    if (this.call.stream) return this.failed(malformed('a whole answer to a request for a stream', this.status));
    this.attempts.succeeded(this.current!, this.status);
    this.over = true;
    const usage = chatUsage(reply.usage, reply.images ?? 0, reply.estimatedOutput, this.exchange);
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
    return errorReply(this.current!.target, this.status, this.retryAfter, body);
  }

  private failed(failure: Failure): void {
    if (this.over) return;
    if (this.exchange.reply.begun) return this.failedBegun(failure);
    const goOn = this.attempts.failedWith(this.current!, failure);
    if (this.exchange.aborted) return this.finishAborted();
    if (goOn) this.start();
    else this.fail(failure.error);
  }

  private fail(error: GatewayError): void {
    if (this.over) return;
    this.over = true;
    if (this.stream?.tap.answered && this.exchange.reply.begun) return this.conclude(this.stream.tap);
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
    return { kind: 'aborted', status: 499, code: null, usage: this.streamUsage() };
  }

  private streamUsage(): Usage {
    return this.stream === null ? noUsage : streamUsage(this.stream.tap, this.exchange);
  }

  private stopUpstream(): void {
    this.sending?.abort();
  }
}
