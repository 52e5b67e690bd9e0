/** The client's side of a WebSocket over uWS: copied out of native memory, back-pressure reported, closed once. */
import type { Bystander } from './bystander.ts';
import type { NativeResponse } from './reply.ts';

/** The part of uWS's WebSocket that is used; it throws at any use after its close. */
export interface NativeSocket {
  readonly client: ClientSocket;
  send(message: Uint8Array | string, isBinary: boolean): number;
  ping(): number;
  end(code: number, reason: string): void;
  close(): void;
  getBufferedAmount(): number;
}

export interface SocketListener {
  onClientMessage(frame: Buffer, isBinary: boolean): void;
  onClientPong(): void;
  /** What `send` could not hand to the network has become little again. */
  onClientDrained(): void;
  /** The client closed or is gone (1006); not called after `end` or `cut`. */
  onClientClose(code: number, reason: string): void;
}

/** Bytes that may wait for a slow client before its vendor is paused, and those below which it goes on. */
const highWater = 1024 * 1024;
const lowWater = 256 * 1024;

export class ClientSocket {
  private native: NativeSocket | null = null;
  private readonly listener: SocketListener;

  constructor(listener: SocketListener) {
    this.listener = listener;
  }

  /** A text frame; false: too much waits, stop until `onClientDrained`. */
  send(frame: Buffer | string): boolean {
    if (this.native === null) return true;
    this.native.send(frame, false);
    return this.native.getBufferedAmount() <= highWater;
  }

  ping(): void {
    this.native?.ping();
  }

  /** Sends a close frame behind all that still waits. */
  end(code: number, reason: string): void {
    const { native } = this;
    this.native = null;
    native?.end(code, reason);
  }

  /** Cuts the connection of a client that is not there any more. */
  cut(): void {
    const { native } = this;
    this.native = null;
    native?.close();
  }

  opened(native: NativeSocket): void {
    this.native = native;
  }

  message(bytes: ArrayBuffer, isBinary: boolean): void {
    // uWS only lends the bytes.
    if (this.native !== null) this.listener.onClientMessage(Buffer.from(Buffer.from(bytes)), isBinary);
  }

  pong(): void {
    if (this.native !== null) this.listener.onClientPong();
  }

  drain(): void {
    if (this.native !== null && this.native.getBufferedAmount() <= lowWater) this.listener.onClientDrained();
  }

  closed(code: number, reason: ArrayBuffer): void {
    if (this.native === null) return;
    this.native = null;
    this.listener.onClientClose(code, Buffer.from(reason).toString());
  }
}

/** A client's wish to become a WebSocket, copied while uWS still held the request. */
export class Upgrade {
  private readonly key: string;
  private readonly context: object;
  private readonly bystander: Bystander;

  constructor(key: string, context: object, bystander: Bystander) {
    this.key = key;
    this.context = context;
    this.bystander = bystander;
  }

  /** To be called by `Reply.upgrade`. No extension is agreed to: frames are never compressed. */
  accept(native: NativeResponse, subprotocol: string, listener: SocketListener): ClientSocket {
    const client = new ClientSocket(listener);
    this.bystander.cork(() => native.upgrade({ client }, this.key, subprotocol, '', this.context));
    return client;
  }
}

/** The largest message that uWS takes; sessions have a smaller bound of their own and say so when they close. */
const largestMessage = 64 * 1024 * 1024;
/** Seconds: the last resort where a session's own pings do not end a connection. */
const longestSilence = 240;

/** uWS's settings and handlers for all sockets of the server. */
export const socketBehavior = {
  maxPayloadLength: largestMessage,
  idleTimeout: longestSilence,
  sendPingsAutomatically: true,
  /** Never drop a message: sessions watch what waits. */
  maxBackpressure: 0,
  closeOnBackpressureLimit: false,
  open: (native: NativeSocket) => native.client.opened(native),
  message: (native: NativeSocket, bytes: ArrayBuffer, isBinary: boolean) => native.client.message(bytes, isBinary),
  pong: (native: NativeSocket) => native.client.pong(),
  drain: (native: NativeSocket) => native.client.drain(),
  close: (native: NativeSocket, code: number, reason: ArrayBuffer) => native.client.closed(code, reason),
};
