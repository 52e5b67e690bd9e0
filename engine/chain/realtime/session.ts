/**
 * One session after its first event: frames go both ways unchanged, answers are charged before their last event is
 * handed on, and one end takes the other with it. Whoever is slow makes its vendor wait; a client that outruns its
 * vendor cannot be paused (docs/decisions) and is told to go.
 */
import type { RealtimeProtocol, SessionMeter, SessionPart } from '../../contract/realtime.ts';
import { noUsage, type OutcomeKind } from '../../contract/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { ClientSocket, SocketListener } from '../../http/sockets.ts';
import { vendorFailure } from '../../upstream/failure.ts';
import type { TransportFailure } from '../../upstream/pools.ts';
import type { SocketReceiver, VendorSocket } from '../../upstream/socket.ts';
import { type Deadline, startDeadline } from '../../wire/deadline.ts';
import { plainError } from '../../wire/vendor-error.ts';
import type { Attempts, Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { closeCodes, codeFor, isSendable, reasonOf } from './closing.ts';
import { Heartbeat } from './heartbeat.ts';
import { isUnpaid, type Parts } from './parts.ts';
import type { OpenSession, Sessions } from './sessions.ts';

/** What the operator may set; ms and bytes. */
export interface RealtimeSettings {
  readonly idleTimeout: number;
  readonly pingTimeout: number;
  readonly bufferLimit: number;
}

export interface SessionMaterial {
  readonly exchange: LiveExchange;
  readonly protocol: NonNullable<RealtimeProtocol['client']>;
  readonly settings: RealtimeSettings;
  readonly attempts: Attempts;
  readonly tried: Try;
  readonly vendor: VendorSocket;
  readonly meter: SessionMeter;
  readonly parts: Parts;
  readonly ending: Ending;
  readonly sessions: Sessions;
}

/** How a session ends: what each side hears, and what the usage log says. */
interface Finish {
  readonly kind: Exclude<OutcomeKind, 'accepted'>;
  readonly error: GatewayError | null;
  /** Null: the client is gone, or has closed by itself. */
  readonly client: { readonly code: number; readonly reason: string } | null;
  /** Null: the vendor is gone, or has closed by itself. */
  readonly vendor: { readonly code: number; readonly reason: string } | null;
  /** The vendor broke the session off. */
  readonly isVendorFault?: boolean;
}

export class RealtimeSession implements SocketListener, SocketReceiver, OpenSession {
  private readonly material: SessionMaterial;
  private readonly heartbeat: Heartbeat<'client' | 'vendor'>;
  private readonly idle: Deadline;
  private client: ClientSocket | null = null;
  /** Frames that came while a part is being charged, in their order; null while none is. */
  private waiting: Buffer[] | null = null;
  /** The vendor has closed while frames of it waited. */
  private closed: { readonly code: number; readonly reason: string } | null = null;
  private slow = false;
  private draining = false;
  private over = false;

  constructor(material: SessionMaterial) {
    this.material = material;
    const { settings, vendor, exchange } = material;
    this.idle = startDeadline(settings.idleTimeout, () => this.idled());
    const client = { ping: () => this.client?.ping() };
    this.heartbeat = new Heartbeat({ client, vendor }, settings.pingTimeout, (side) => this.lost(side));
    exchange.onExpire = () => this.expire();
  }

  /** The client is connected; `first` is what the vendor said already. */
  begin(client: ClientSocket, first: Buffer): void {
    this.client = client;
    this.onMessage(first, false);
    if (!this.over) this.material.sessions.add(this);
  }

  onMessage(frame: Buffer, isBinary: boolean): void {
    if (this.over) return;
    this.heartbeat.heard('vendor');
    if (isBinary) return this.vendorFailed('it sent a binary frame');
    if (this.waiting === null) this.take(frame);
    else this.waiting.push(frame);
  }

  onPong(): void {
    this.heartbeat.heard('vendor');
  }

  onClose(code: number, reason: string): void {
    if (this.over) return;
    if (this.waiting !== null) {
      this.closed = { code, reason };
      return;
    }
    if (!isSendable(code)) return this.vendorFailed(`it closed with ${code} ${reason}`);
    const error = code === closeCodes.normal ? null : new GatewayError('upstream_error', reason || undefined);
    const kind = error === null ? 'ok' : 'error';
    // 1011 to 1014: its own failure, a restart, overload, a bad gateway.
    const isVendorFault = code >= closeCodes.failed && code <= 1014;
    this.finish({ kind, error, client: { code, reason }, vendor: null, isVendorFault });
  }

  onRefused(): void {
    this.vendorFailed('it answered twice');
  }

  onBroken(failure: TransportFailure): void {
    this.vendorFailed(failure.cause.message);
  }

  onClientMessage(frame: Buffer, isBinary: boolean): void {
    if (this.over) return;
    const { vendor, meter, settings, exchange } = this.material;
    this.heartbeat.heard('client');
    this.idle.restart(settings.idleTimeout);
    const refusal = isBinary
      ? new GatewayError('unsupported_content_type', 'Events are text frames: binary ones are refused.')
      : frame.length > exchange.route.bodyLimit
        ? new GatewayError('body_too_large', `An event is larger than ${exchange.route.bodyLimit} bytes.`)
        : vendor.buffered > settings.bufferLimit
          ? new GatewayError('overloaded', 'Events come faster than the vendor takes them.')
          : null;
    if (refusal !== null) return this.refuse(refusal);
    meter.sent(frame);
    vendor.send(frame);
  }

  onClientPong(): void {
    this.heartbeat.heard('client');
  }

  onClientDrained(): void {
    this.slow = false;
    this.heartbeat.heard('client');
    this.flow();
  }

  /** A code that no client may send stands for one that it did not send. */
  onClientClose(code: number, reason: string): void {
    if (this.over) return;
    const isGone = code === closeCodes.abnormal;
    const vendor = isSendable(code) ? { code, reason } : { code: isGone ? closeCodes.goingAway : 0, reason: '' };
    this.finish({ kind: isGone ? 'aborted' : 'ok', error: null, client: null, vendor });
  }

  drain(): void {
    this.draining = true;
    if (!this.over && this.waiting === null && this.material.meter.running === 0) this.stop();
  }

  stop(): void {
    if (!this.over) this.refuse(new GatewayError('shutting_down'), 'ok');
  }

  private take(frame: Buffer): void {
    const { meter, settings } = this.material;
    this.idle.restart(settings.idleTimeout);
    const part = meter.received(frame);
    if (part === null) this.forward(frame);
    else this.charge(part, frame);
  }

  private charge(part: SessionPart, frame: Buffer): void {
    this.waiting = [];
    this.flow();
    void this.material.parts.charge(part).then((refusal) => this.charged(refusal, frame));
  }

  private charged(refusal: GatewayError | null, frame: Buffer): void {
    const waiting = this.waiting ?? [];
    this.waiting = null;
    if (this.over) return;
    if (!isUnpaid(refusal)) this.forward(frame);
    if (refusal !== null) return this.refuse(refusal);
    while (waiting.length > 0 && this.waiting === null && !this.over) this.take(waiting.shift()!);
    // Another part began: what is left waits for it.
    if (this.waiting !== null) (this.waiting as Buffer[]).push(...waiting);
    else this.caughtUp();
  }

  private caughtUp(): void {
    if (this.over) return;
    if (this.closed !== null) return this.onClose(this.closed.code, this.closed.reason);
    if (this.draining && this.material.meter.running === 0) return this.stop();
    this.flow();
  }

  private forward(frame: Buffer): void {
    if (this.client?.send(frame) !== false) return;
    this.slow = true;
    this.flow();
  }

  private flow(): void {
    if (this.slow || this.waiting !== null) this.material.vendor.pause();
    else this.material.vendor.resume();
  }

  private expire(): void {
    const seconds = this.material.exchange.route.timeout / 1000;
    const sentence = `The session has reached its longest duration of ${seconds} s.`;
    if (!this.over) this.refuse(new GatewayError('session_expired', sentence), 'ok');
  }

  private idled(): void {
    const seconds = this.material.settings.idleTimeout / 1000;
    if (!this.over) this.refuse(new GatewayError('session_expired', `No event came for ${seconds} s.`), 'ok');
  }

  private lost(side: 'client' | 'vendor'): void {
    if (this.over) return;
    if (side === 'vendor') {
      this.material.vendor.cut();
      return this.vendorFailed('it answers no pings');
    }
    this.client?.cut();
    const vendor = { code: closeCodes.goingAway, reason: '' };
    this.finish({ kind: 'aborted', error: null, client: null, vendor });
  }

  /** The gateway ends the session: the client is told why. */
  private refuse(error: GatewayError, kind: 'ok' | 'error' = 'error'): void {
    const client = { code: codeFor(error), reason: reasonOf(error.message) };
    this.tell(error);
    this.finish({ kind, error, client, vendor: { code: closeCodes.normal, reason: '' } });
  }

  private vendorFailed(why: string): void {
    const error = new GatewayError('upstream_error', 'The vendor broke the session off.', { cause: why });
    this.tell(error);
    const client = { code: closeCodes.failed, reason: error.message };
    const vendor = { code: closeCodes.normal, reason: '' };
    this.finish({ kind: 'error', error, client, vendor, isVendorFault: true });
  }

  private tell(error: GatewayError): void {
    const { protocol, exchange } = this.material;
    this.client?.send(protocol.encodeErrorEvent(error, exchange.id));
  }

  /** The first end is the end. What no vendor will report any more is charged before the last frame goes out. */
  private finish(end: Finish): void {
    this.over = true;
    const { meter, vendor, sessions, parts } = this.material;
    this.idle.cancel();
    this.heartbeat.stop();
    sessions.delete(this);
    if (end.vendor !== null) vendor.close(end.vendor.code, end.vendor.reason);
    this.judge(end);
    const usage = meter.unreported();
    if (usage !== null) void parts.charge({ kind: end.kind, code: end.error?.code ?? null, usage });
    parts.whenBooked(() => this.settle(end));
  }

  private judge({ isVendorFault, error }: Finish): void {
    const { attempts, tried } = this.material;
    if (!isVendorFault) return attempts.succeeded(tried, 101);
    const reported = plainError(String(error?.cause ?? ''));
    attempts.failedWith(tried, vendorFailure(tried.target.channel.vendor, 502, reported, null));
  }

  private settle({ kind, error, client }: Finish): void {
    const { ending, exchange } = this.material;
    if (client !== null) this.client?.end(client.code, client.reason);
    this.client = null;
    ending.leave(exchange, { kind, status: 101, code: error?.code ?? null, usage: noUsage });
  }
}
