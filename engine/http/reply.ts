/**
 * The reply to one request, over a uWS response: head staged until the first byte, head and first chunk in one write,
 * back-pressure reported, nothing touched once the client has gone.
 */

import { STATUS_CODES } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import type { ReplyCapture } from '../contract/exchange.ts';

/** The part of uWS's HttpResponse that is used (spelled out, so that only `server.ts` knows the package). */
export interface NativeResponse {
  writeStatus(status: string): NativeResponse;
  writeHeader(name: string, value: string): NativeResponse;
  write(chunk: Uint8Array | string): boolean;
  end(body?: Uint8Array | string, closeConnection?: boolean): NativeResponse;
  endWithoutBody(reportedLength?: number, closeConnection?: boolean): NativeResponse;
  tryEnd(chunk: Uint8Array | string, totalSize: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): NativeResponse;
  onAborted(handler: () => void): NativeResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): NativeResponse;
  cork(callback: () => void): NativeResponse;
  close(): NativeResponse;
  pause(): void;
  resume(): void;
  /** Turns the connection into a WebSocket; nothing of this interface is to be used afterwards. */
  upgrade(data: object, key: string, subprotocol: string, extensions: string, context: object): void;
}

/** Flat pairs: name, value, name, value. */
export type HeaderPairs = readonly string[];

const statusLines = new Map<number, string>();
for (const [code, text] of Object.entries(STATUS_CODES)) statusLines.set(Number(code), `${code} ${text}`);

export class Reply {
  readonly requestId: string;
  /** The client has gone, or the connection was cut. */
  gone = false;
  ended = false;
  /** A byte was handed to the socket: no other channel and no other status is possible any more. */
  begun = false;
  /** Monotonic ms of the first byte; 0 before. */
  firstByteAt = 0;
  status = 0;
  /** Another header that tells the request id. */
  idHeader: string | null = null;
  /** An answer to HEAD: the head tells the length, the body stays away. */
  bodiless = false;
  capture: ReplyCapture | null = null;
  private readonly native: NativeResponse;
  private contentType = '';
  private headers: HeaderPairs = [];
  private onGone: (() => void) | null = null;
  private onDrain: (() => void) | null = null;
  private chunk: Buffer | null = null;
  private chunkFits = true;
  private writeChunk: (() => void) | null = null;

  constructor(native: NativeResponse, requestId: string) {
    this.native = native;
    this.requestId = requestId;
    native.onAborted(() => {
      this.gone = true;
      this.onGone?.();
    });
  }

  /** The one listener for a client that leaves before the reply ended. */
  whenGone(listener: () => void): void {
    this.onGone = listener;
  }

  /** Stages status and headers; nothing goes out yet. */
  stage(status: number, contentType: string, headers: HeaderPairs = []): void {
    this.status = status;
    this.contentType = contentType;
    this.headers = headers;
  }

  /** A whole reply in one write. */
  send(status: number, contentType: string, body: Buffer | string, headers: HeaderPairs = []): void {
    this.stage(status, contentType, headers);
    this.end(body);
  }

  /** A chunk of a stream; false: stop until `drained` calls back. */
  write(chunk: Buffer): boolean {
    if (this.gone || this.ended) return true;
    this.chunk = chunk;
    // One closure per reply, not per chunk.
    this.writeChunk ??= () => {
      this.writeHead();
      this.chunkFits = this.native.write(this.chunk!);
      this.chunk = null;
    };
    this.native.cork(this.writeChunk);
    return this.chunkFits;
  }

  end(last?: Buffer | string): void {
    if (this.gone || this.ended) return;
    this.native.cork(() => {
      this.writeHead();
      this.ended = true;
      if (last === undefined) this.native.end();
      else if (this.bodiless) this.native.endWithoutBody(Buffer.byteLength(last));
      else this.native.end(last);
    });
  }

  /** A whole reply in pieces with its length announced, written as fast as the client reads. */
  sendPieces(pieces: readonly Buffer[]): void {
    const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
    let index = 0;
    let pieceStart = 0;
    const pump = (): boolean => {
      while (index < pieces.length && !this.gone) {
        const offset = this.native.getWriteOffset();
        const rest = pieces[index]!.subarray(Math.max(0, offset - pieceStart));
        const [fits, done] = this.native.tryEnd(rest, total);
        if (done) {
          this.ended = true;
          return true;
        }
        if (!fits) return false;
        pieceStart += pieces[index]!.length;
        index++;
      }
      return true;
    };
    if (this.gone || this.ended) return;
    this.native.onWritable(() => {
      pump();
      return true;
    });
    this.native.cork(() => {
      this.writeHead();
      if (total === 0) {
        this.ended = true;
        this.native.end();
      } else pump();
    });
  }

  /** A stream of known length, read as fast as the client does; it is destroyed when the client leaves. */
  sendStream(stream: Readable, total: number, failed: (error: Error) => void): void {
    let rest: Buffer | null = null;
    let sent = 0;
    const pump = (): boolean => {
      if (rest === null) return true;
      const [fits, done] = this.native.tryEnd(rest.subarray(this.native.getWriteOffset() - sent), total);
      if (done) this.ended = true;
      if (!fits && !done) return false;
      sent += rest.length;
      rest = null;
      stream.resume();
      return true;
    };
    this.whenGone(() => stream.destroy());
    this.native.onWritable(pump);
    this.native.cork(() => this.writeHead());
    stream.on('data', (chunk: Buffer) => {
      stream.pause();
      if (this.gone || this.ended) return;
      rest = chunk;
      this.native.cork(pump);
    });
    stream.on('error', (error) => {
      failed(error);
      this.cut();
    });
    stream.on('end', () => {
      if (sent >= total || this.gone) return;
      failed(new Error(`${total} bytes were announced and ${sent} came`));
      this.cut();
    });
  }

  /** A reply without a body that announces a length (HEAD). */
  endWithoutBody(length: number): void {
    if (this.gone || this.ended) return;
    this.native.cork(() => {
      this.writeHead();
      this.ended = true;
      this.native.endWithoutBody(length);
    });
  }

  /** Ends the reply with a 101: `accept` turns the connection into a socket. */
  upgrade(accept: (native: NativeResponse) => void): void {
    this.status = 101;
    this.begun = this.ended = true;
    this.firstByteAt = performance.now();
    this.native.cork(() => {
      this.native.writeStatus('101 Switching Protocols').writeHeader('x-request-id', this.requestId);
    });
    accept(this.native);
  }

  /** Calls `listener` once when a `write` that answered false may go on. */
  drained(listener: () => void): void {
    const first = this.onDrain === null;
    this.onDrain = listener;
    if (!first) return;
    this.native.onWritable(() => {
      this.onDrain?.();
      return true;
    });
  }

  /** Cuts the connection: the only honest end where a protocol has no form for an error in its stream. */
  cut(): void {
    if (this.gone || this.ended) return;
    this.ended = true;
    this.gone = true;
    this.native.close();
  }

  private writeHead(): void {
    if (this.begun) return;
    this.begun = true;
    this.firstByteAt = performance.now();
    const native = this.native;
    if (this.status !== 200) native.writeStatus(statusLines.get(this.status) ?? `${this.status} Unknown`);
    native.writeHeader('x-request-id', this.requestId);
    if (this.idHeader !== null) native.writeHeader(this.idHeader, this.requestId);
    native.writeHeader('content-type', this.contentType);
    const headers = this.headers;
    for (let index = 0; index < headers.length; index += 2) native.writeHeader(headers[index]!, headers[index + 1]!);
  }
}
