/** A server that plays bytes, and a receiver that writes down what it hears. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { RawHeaders } from '../../engine/upstream/headers.ts';
import type { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import type { Receiver, Sending, TransportFailure, UpstreamRequest } from '../../engine/upstream/transport.ts';

export interface RawServer {
  readonly port: number;
  readonly origin: string;
  /** Every connection that came, in its order. */
  readonly sockets: readonly Socket[];
  /** Whole requests (head and body) in their order, over all connections; in Latin-1. */
  readonly requests: readonly string[];
  /** Connections that are still there. */
  open(): number;
  close(): Promise<void>;
}

/** Called for each whole request; `index` counts over all connections. */
export type Play = (socket: Socket, request: string, index: number) => void;

/** Cuts what comes in into requests. */
class RequestReader {
  private pieces: Buffer[] = [];
  private length = 0;
  /** Of the request being read; 0 while its head is not whole. */
  private wanted = 0;

  *push(chunk: Buffer): Generator<string> {
    this.pieces.push(chunk);
    this.length += chunk.length;
    for (;;) {
      if (this.wanted === 0) this.readHead();
      if (this.wanted === 0 || this.length < this.wanted) return;
      const bytes = Buffer.concat(this.pieces);
      const rest = bytes.subarray(this.wanted);
      yield bytes.toString('latin1', 0, this.wanted);
      this.pieces = [rest];
      this.length = rest.length;
      this.wanted = 0;
    }
  }

  private readHead(): void {
    const text = Buffer.concat(this.pieces).toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const said = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, end + 2));
    this.wanted = end + 4 + Number(said?.[1] ?? 0);
  }
}

export async function startRawServer(
  play: Play,
  tls?: TlsOptions,
  onSocket?: (socket: Socket) => void,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const requests: string[] = [];
  const live = new Set<Socket>();
  const accept = (socket: Socket) => {
    sockets.push(socket);
    live.add(socket);
    socket.on('close', () => live.delete(socket));
    // Clients that cut the connection are what is tested.
    socket.on('error', () => {});
    onSocket?.(socket);
    const reader = new RequestReader();
    socket.on('data', (chunk) => {
      for (const request of reader.push(chunk)) play(socket, request, requests.push(request) - 1);
    });
  };
  const server: Server =
    tls === undefined ? createServer({ noDelay: true }, accept) : createTlsServer({ ...tls, noDelay: true }, accept);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    sockets,
    requests,
    open: () => live.size,
    close: async () => {
      for (const socket of live) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An answer with a length. */
export const whole = (body: string, fields = ''): string =>
  `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export class Heard implements Receiver {
  status = 0;
  headers: RawHeaders = Buffer.alloc(0);
  readonly chunks: Buffer[] = [];
  /** `head`, `data`, `end`, `broken`, in their order. */
  readonly events: string[] = [];
  failure: TransportFailure | null = null;
  sending!: Sending;
  /** What `onData` answers. */
  goesOn: (heard: Heard) => boolean = () => true;
  readonly over: Promise<this>;
  private resolve!: (heard: this) => void;

  constructor() {
    this.over = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  onHead(status: number, headers: RawHeaders): void {
    this.events.push('head');
    this.status = status;
    this.headers = headers;
  }

  onData(chunk: Buffer): boolean {
    this.events.push('data');
    this.chunks.push(chunk);
    return this.goesOn(this);
  }

  onEnd(): void {
    this.events.push('end');
    this.resolve(this);
  }

  onBroken(failure: TransportFailure): void {
    this.events.push('broken');
    this.failure = failure;
    this.resolve(this);
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.body.toString('latin1');
  }
}

const plainRequest: UpstreamRequest = {
  method: 'POST',
  path: '/v1/x?y=z',
  headers: ['authorization', 'Bearer secret', 'content-type', 'application/json'],
  body: Buffer.from('{"a":1}'),
  firstByteTimeout: 5_000,
  idleTimeout: 5_000,
};

export function send(list: HttpConnections, request: Partial<UpstreamRequest> = {}, heard = new Heard()): Heard {
  heard.sending = list.send({ ...plainRequest, ...request }, heard);
  return heard;
}
