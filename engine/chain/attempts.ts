/**
 * The attempts of one request: which channel next, what a failure means, what the client hears when none is left. A
 * failed channel is not tried twice in one request.
 */
import { performance } from 'node:perf_hooks';
import type { Attempt } from '../contract/exchange.ts';
import type { Candidate, Channel, FailoverTable, Offer } from '../contract/model.ts';
import type { Log } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import { pickWeighted } from '../upstream/balance.ts';
import { type Failure, failoverKey } from '../upstream/failure.ts';
import type { LiveExchange } from './exchange.ts';
import type { Target } from './target.ts';

/** One try at one channel with one credential. */
export interface Try {
  readonly target: Target;
  readonly credential: number;
  readonly attempt: Attempt;
}

export class Attempts {
  private readonly exchange: LiveExchange;
  private readonly offer: Offer;
  private readonly failover: FailoverTable;
  private readonly log: Log;
  private readonly judges: boolean;
  private failed: Channel[] | null = null;
  private last: Failure | null = null;
  /** What a channel's protocol could not say; another channel may speak one that can. */
  private unsaid: GatewayError | null = null;
  private shortestWait: number | null = null;

  /** `judges`: what becomes of a try counts for the health of its channel. */
  constructor(exchange: LiveExchange, offer: Offer, failover: FailoverTable, log: Log, judges = true) {
    this.exchange = exchange;
    this.offer = offer;
    this.failover = failover;
    this.log = log;
    this.judges = judges;
  }

  /** The next try, or the error that the client gets because there is none. */
  next(): Try | GatewayError {
    const now = Date.now();
    for (const tier of this.offer.tiers) {
      const candidate = pickWeighted(tier, (one) => this.isReady(one, now), Math.random);
      if (candidate === null) continue;
      const target = this.target(candidate);
      const credential = this.exchange.pin?.credential ?? target.health.pick(target.channel, now);
      if (this.judges) target.health.enter(target.channel, credential);
      this.exchange.channelOrigin = target.channel.origin;
      const attempt: Attempt = {
        channel: target.channel.name,
        vendorModel: target.vendorModel,
        status: 0,
        reason: null,
        startedAt: performance.now(),
      };
      this.exchange.attempts.push(attempt);
      return { target, credential, attempt };
    }
    return this.exhausted(now);
  }

  /** Books a failed try; true: go on with `next`, false: the client gets `failure.error`. */
  failedWith(tried: Try, failure: Failure): boolean {
    const { target, credential, attempt } = tried;
    attempt.status = failure.status;
    attempt.reason = failure.reason;
    const rests = this.judges ? target.health.fail(target.channel, credential, failure, Date.now()) : null;
    this.report(tried, failure, rests);
    this.failed ??= [];
    this.failed.push(target.channel);
    this.last = failure;
    if (failure.retryAfter !== null)
      this.shortestWait = Math.min(this.shortestWait ?? Number.POSITIVE_INFINITY, failure.retryAfter);
    const key = failoverKey(failure);
    const fallback = failure.reason === 'status' && failure.status >= 500 ? 'next' : 'stop';
    return (this.failover[key] ?? fallback) === 'next';
  }

  /** The request cannot be said in the protocol of this channel: nothing was sent, and nothing speaks against the channel. */
  unfit(tried: Try, error: GatewayError): void {
    this.abandoned(tried);
    this.exchange.attempts.pop();
    this.failed ??= [];
    this.failed.push(tried.target.channel);
    this.unsaid ??= error;
  }

  /** The first event of a stream is there: a channel that was probed serves again. */
  begun({ target, credential, attempt }: Try, status: number): void {
    attempt.status = status;
    target.health.begin(target.channel, credential);
  }

  succeeded({ target, credential, attempt }: Try, status: number): void {
    attempt.status = status;
    if (this.judges) target.health.succeed(target.channel, credential);
  }

  /** The try ended without a verdict on the channel: the client left, the gateway stops. */
  abandoned({ target, credential }: Try): void {
    if (this.judges) target.health.leave(target.channel, credential);
  }

  private target(candidate: Candidate): Target {
    return this.exchange.compiled.targets.get(candidate)!;
  }

  /** A channel may serve the model on other routes only: then it has no target here. */
  private isServed(candidate: Candidate): boolean {
    return this.exchange.compiled.targets.has(candidate);
  }

  private isReady(candidate: Candidate, now: number): boolean {
    const { pin } = this.exchange;
    if (pin !== null && candidate.channel !== pin.channel) return false;
    if (this.failed?.includes(candidate.channel) || !this.isServed(candidate)) return false;
    const { health } = this.target(candidate);
    return pin === null ? health.ready(candidate.channel, now) : health.readyFor(pin.channel, pin.credential, now);
  }

  private exhausted(now: number): GatewayError {
    if (this.last !== null) return this.withWait(this.last.error);
    if (this.unsaid !== null) return this.unsaid;
    const { pin } = this.exchange;
    const candidates = this.offer.tiers
      .flat()
      .filter((candidate) => this.isServed(candidate) && (pin === null || candidate.channel === pin.channel));
    if (candidates.length === 0) return new GatewayError('no_channel_available');
    const soonest = Math.min(
      ...candidates.map((candidate) => this.target(candidate).health.readyAt(candidate.channel, pin?.credential)),
    );
    return new GatewayError('no_channel_available', undefined, {
      retryAfter: Math.max(1, Math.ceil((soonest - now) / 1000)),
    });
  }

  /** When all channels failed, the client hears the shortest wait that any vendor asked for. */
  private withWait(error: GatewayError): GatewayError {
    if (this.shortestWait === null || error.status < 429) return error;
    return new GatewayError(error.code, error.message, {
      status: error.status,
      type: error.type,
      param: error.param,
      shownCode: error.shownCode,
      retryAfter: Math.ceil(this.shortestWait),
      cause: error.cause,
    });
  }

  private report({ target, credential }: Try, failure: Failure, rests: 'channel' | 'credential' | null): void {
    const fields = {
      requestId: this.exchange.id,
      channel: target.channel.name,
      credentialNumber: credential + 1,
      reason: failure.reason,
      status: failure.status,
      detail: failure.message,
      rests,
    };
    if (failure.spares) this.log.warn(fields, 'the vendor refuses this account what a request asked for');
    else if (failure.reason === 'credential')
      this.log.error(fields, 'the vendor refuses this channel’s credential: replace it');
    else if (rests !== null) this.log.warn(fields, 'a channel failed and rests');
    else this.log.info(fields, 'an attempt failed');
  }
}
