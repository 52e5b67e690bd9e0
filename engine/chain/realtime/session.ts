/**
 * One session after its first event: frames go both ways unchanged, and one end takes the other with it. A client that
 * outruns its vendor cannot be paused (docs/decisions/0013-realtime-sessions.md) and is told to go.
 */
import type { RealtimeProtocol, SessionMeter } from '../../contract/realtime.ts';
import { noUsage } from '../../contract/usage.ts';
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
import {
  abandonedSession,
  brokenSession,
  closedByClient,
  closedByVendor,
  type Finish,
  isSendable,
  refusedSession,
} from './closing.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Parts } from './parts.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import { VendorFrames } from './vendor-frames.ts';

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

export class RealtimeSession implements SocketListener, SocketReceiver, OpenSession {
  private readonly material: SessionMaterial;
  private readonly heartbeat: Heartbeat<'client' | 'vendor'>;
  private readonly idle: Deadline;
  private readonly frames: VendorFrames;
  private client: ClientSocket | null = null;
  /** The vendor has closed while frames of it waited. */
  private closed: { readonly code: number; readonly reason: string } | null = null;
  /** What ends behind a client's words may be their doing. */
  private clientSpoke = false;
  private draining = false;
  private over = false;

  constructor(material: SessionMaterial) {
    this.material = material;
    const { settings, vendor, exchange } = material;
    this.idle = startDeadline(settings.idleTimeout, () => this.idled());
    this.frames = new VendorFrames(material, {
      send: (frame) => this.client?.send(frame) !== false,
      refused: (error) => this.refuse(error),
      caughtUp: () => this.caughtUp(),
    });
    const peers = {
      client: { ping: () => this.client?.ping(), isPaused: () => false },
      vendor: { ping: () => vendor.ping(), isPaused: () => this.frames.paused },
    };
    this.heartbeat = new Heartbeat(peers, settings.pingTimeout, (side) => this.lost(side));
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
    this.idle.restart(this.material.settings.idleTimeout);
    this.frames.add(frame);
  }

  onPong(): void {
    this.heartbeat.heard('vendor');
  }

  onClose(code: number, reason: string): void {
    if (this.over) return;
    if (this.frames.charging) this.closed = { code, reason };
    else if (isSendable(code)) this.finish(closedByVendor(code, reason));
    else this.vendorFailed(`it closed with ${code} ${reason}`);
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
    this.clientSpoke = true;
    meter.sent(frame);
    vendor.send(frame);
  }

  onClientPong(): void {
    this.heartbeat.heard('client');
  }

  onClientDrained(): void {
    this.heartbeat.heard('client');
    // Its pongs still wait with all the rest.
    this.heartbeat.heard('vendor');
    this.frames.drained();
  }

  onClientClose(code: number, reason: string): void {
    if (!this.over) this.finish(closedByClient(code, reason));
  }

  drain(): void {
    this.draining = true;
    if (!this.over && !this.frames.charging && this.material.meter.running === 0) this.stop();
  }

  stop(): void {
    if (!this.over) this.refuse(new GatewayError('shutting_down'), 'ok');
  }

  private caughtUp(): void {
    if (this.closed !== null) return this.onClose(this.closed.code, this.closed.reason);
    if (this.draining && this.material.meter.running === 0) this.stop();
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
    this.finish(abandonedSession);
  }

  /** The gateway ends the session: the client is told why. */
  private refuse(error: GatewayError, kind: 'ok' | 'error' = 'error'): void {
    this.tell(error);
    this.finish(refusedSession(error, kind));
  }

  private vendorFailed(why: string): void {
    const end = brokenSession(why);
    this.tell(end.error!);
    this.finish(end);
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
    this.frames.stop();
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
    if (this.clientSpoke || this.frames.heldBack) return attempts.abandoned(tried);
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
