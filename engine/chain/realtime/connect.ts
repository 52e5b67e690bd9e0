/** The attempts of a session: a channel is good once its socket is open and its first event is there. */
import type { RealtimeProtocol } from '../../contract/realtime.ts';
import { noUsage } from '../../contract/usage.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { type Failure, malformed, transportFailure, vendorFailure } from '../../upstream/failure.ts';
import { retryAfterSeconds } from '../../upstream/headers.ts';
import type { RawHeaders, TransportFailure } from '../../upstream/pools.ts';
import { type SocketReceiver, VendorSocket } from '../../upstream/socket.ts';
import { parsedJson } from '../../wire/parse-json.ts';
import { plainError } from '../../wire/vendor-error.ts';
import type { Attempts, Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { handshake } from './request.ts';

/** ms: a session's first event comes at once, whatever a channel allows for the first byte of an answer. */
const longestWait = 30_000;

type Connected = (tried: Try, vendor: VendorSocket, first: Buffer) => void;

export class RealtimeConnect implements SocketReceiver {
  private readonly exchange: LiveExchange;
  private readonly protocol: NonNullable<RealtimeProtocol['vendor']>;
  private readonly attempts: Attempts;
  private readonly ending: Ending;
  private readonly connected: Connected;
  private current: { readonly tried: Try; readonly vendor: VendorSocket } | null = null;
  private over = false;

  constructor(
    exchange: LiveExchange,
    protocol: NonNullable<RealtimeProtocol['vendor']>,
    attempts: Attempts,
    ending: Ending,
    connected: Connected,
  ) {
    this.exchange = exchange;
    this.protocol = protocol;
    this.attempts = attempts;
    this.ending = ending;
    this.connected = connected;
    exchange.onAbort(() => this.clientLeft());
    exchange.onExpire = () => this.expire();
  }

  start(): void {
    if (this.over) return;
    const next = this.attempts.next();
    if (next instanceof GatewayError) return this.fail(next);
    try {
      this.current = { tried: next, vendor: this.dial(next) };
    } catch (error) {
      this.attempts.abandoned(next);
      this.fail(toGatewayError(error));
    }
  }

  private dial({ target, credential }: Try): VendorSocket {
    const { connect, firstByte } = target.channel.timeouts;
    const request = {
      ...handshake(this.exchange, this.protocol, target, credential),
      connectTimeout: connect,
      firstMessageTimeout: Math.min(firstByte, longestWait),
      largestMessage: this.exchange.route.bodyLimit,
    };
    return new VendorSocket(request, this);
  }

  onMessage(frame: Buffer, isBinary: boolean): void {
    const { tried, vendor } = this.current!;
    const value = isBinary ? undefined : parsedJson(frame);
    if (value === undefined) return this.breakOff(malformed('the first event is no JSON', 101));
    const error = this.protocol.decodeError(value);
    if (error !== null) return this.breakOff(vendorFailure(tried.target.channel.vendor, 200, error, null));
    this.over = true;
    this.attempts.begun(tried, 101);
    this.connected(tried, vendor, frame);
  }

  onPong(): void {}

  onRefused(status: number, headers: RawHeaders, body: Buffer): void {
    const value = parsedJson(body);
    const reported = value === undefined ? null : this.protocol.decodeError(value);
    const { vendor } = this.current!.tried.target.channel;
    this.failed(vendorFailure(vendor, status, reported, retryAfterSeconds(headers, Date.now())));
  }

  onBroken(failure: TransportFailure): void {
    this.failed(transportFailure(failure));
  }

  onClose(code: number, reason: string): void {
    const message = `closed with ${code} ${reason} before the first event`;
    const { vendor } = this.current!.tried.target.channel;
    // 1013: try again later.
    if (code === 1013) this.failed(vendorFailure(vendor, 503, plainError(message), null));
    else this.failed(transportFailure({ reason: 'reset', cause: new Error(message) }));
  }

  private breakOff(failure: Failure): void {
    this.current!.vendor.cut();
    this.failed(failure);
  }

  private failed(failure: Failure): void {
    if (this.over) return;
    if (this.attempts.failedWith(this.current!.tried, failure)) return this.start();
    this.fail(failure.error);
  }

  private fail(error: GatewayError): void {
    this.over = true;
    this.ending.fail(this.exchange, error);
  }

  private giveUp(): void {
    this.over = true;
    if (this.current === null) return;
    this.current.vendor.cut();
    this.attempts.abandoned(this.current.tried);
  }

  private clientLeft(): void {
    if (this.over) return;
    this.giveUp();
    this.ending.leave(this.exchange, { kind: 'aborted', status: 499, code: null, usage: noUsage });
  }

  private expire(): void {
    if (this.over) return;
    this.giveUp();
    this.ending.fail(this.exchange, new GatewayError('upstream_timeout'));
  }
}
