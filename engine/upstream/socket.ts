/** Sockets to vendors: the only place that knows ws. */
import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { type Deadline, startDeadline } from '../wire/deadline.ts';
import { type RawHeaders, rawHeaders } from './headers.ts';
import type { TransportFailure } from './transport.ts';

export interface SocketRequest {
  /** `ws://` or `wss://` */
  readonly url: string;
  /** name, value, name, value */
  readonly headers: readonly string[];
  /** ms until the connection is there, and from then until the first message. */
  readonly connectTimeout: number;
  readonly firstMessageTimeout: number;
  /** Bytes. */
  readonly largestMessage: number;
}

/** Who hears about one socket. After `onRefused`, `onBroken` or `onClose` nothing more comes. */
export interface SocketReceiver {
  onMessage(frame: Buffer, isBinary: boolean): void;
  onPong(): void;
  /** The handshake was answered, but not with 101. */
  onRefused(status: number, headers: RawHeaders, body: Buffer): void;
  /** There is no socket, or no message came in time. */
  onBroken(failure: TransportFailure): void;
  /** 1006: broken off. */
  onClose(code: number, reason: string): void;
}

const largestRefusal = 64 * 1024;
/** ms for the vendor to answer our close frame. */
const closeTimeout = 5_000;

export class VendorSocket {
  receiver: SocketReceiver;
  private readonly native: WebSocket;
  private readonly deadline: Deadline;
  private readonly request: SocketRequest;
  private sent = false;
  private opened = false;
  private begun = false;
  private over = false;
  private error: Error | null = null;

  constructor(request: SocketRequest, receiver: SocketReceiver) {
    this.request = request;
    this.receiver = receiver;
    const headers: Record<string, string> = {};
    for (let index = 0; index < request.headers.length; index += 2)
      headers[request.headers[index]!] = request.headers[index + 1]!;
    // `closeTimeout` is newer than the types.
    const options: ClientOptions & { closeTimeout: number } = {
      headers,
      maxPayload: request.largestMessage,
      perMessageDeflate: false,
      closeTimeout,
      finishRequest: (outgoing) => {
        outgoing.on('finish', () => this.connected());
        outgoing.end();
      },
    };
    this.native = new WebSocket(request.url, [], options);
    // A handshake that cannot be written throws: then nothing may expire.
    this.deadline = startDeadline(request.connectTimeout, () => this.expire());
    this.listen();
  }

  /** Bytes that the vendor has not taken yet. */
  get buffered(): number {
    return this.native.bufferedAmount;
  }

  send(frame: Buffer): void {
    if (!this.over) this.native.send(frame, { binary: false });
  }

  ping(): void {
    if (!this.over && this.native.readyState === WebSocket.OPEN) this.native.ping();
  }

  pause(): void {
    this.native.pause();
  }

  resume(): void {
    this.native.resume();
  }

  /** Sends a close frame; the receiver hears nothing any more. `code` 0: one without a code. */
  close(code: number, reason: string): void {
    if (this.over) return;
    this.end();
    // A paused socket would never see the answer to its close frame.
    this.native.resume();
    if (code === 0) this.native.close();
    else this.native.close(code, reason);
  }

  /** Cuts the connection; the receiver hears nothing any more. */
  cut(): void {
    if (this.over) return;
    this.end();
    this.native.terminate();
  }

  private listen(): void {
    const { native } = this;
    native.on('open', () => {
      this.opened = true;
    });
    native.on('message', (data: Buffer, isBinary) => {
      if (this.over) return;
      if (!this.begun) this.deadline.cancel();
      this.begun = true;
      this.receiver.onMessage(data, isBinary);
    });
    native.on('pong', () => {
      if (!this.over) this.receiver.onPong();
    });
    native.on('unexpected-response', (_request, response) => this.refused(response));
    native.on('error', (error) => {
      this.error = error;
    });
    native.on('close', (code, reason) => this.closed(code, reason.toString()));
  }

  private connected(): void {
    if (this.over || this.begun) return;
    this.sent = true;
    this.deadline.restart(this.request.firstMessageTimeout);
  }

  private end(): void {
    this.over = true;
    this.deadline.cancel();
  }

  private expire(): void {
    const { sent } = this;
    this.cut();
    const cause = new Error(sent ? 'no event in time' : 'no connection in time');
    this.receiver.onBroken({ reason: sent ? 'timeout' : 'connect', cause });
  }

  private closed(code: number, reason: string): void {
    if (this.over) return;
    this.end();
    if (this.opened) return this.receiver.onClose(code, this.error === null ? reason : this.error.message);
    const cause = this.error ?? new Error('the socket was closed');
    this.receiver.onBroken({ reason: this.sent ? 'reset' : 'connect', cause });
  }

  private refused(response: IncomingMessage): void {
    if (this.over) {
      response.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const done = () => {
      if (this.over) return;
      this.cut();
      response.destroy();
      this.receiver.onRefused(response.statusCode ?? 0, rawHeaders(response.rawHeaders), Buffer.concat(chunks));
    };
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= largestRefusal) chunks.push(chunk);
      else done();
    });
    response.on('end', done);
    response.on('error', done);
    response.on('close', done);
  }
}
