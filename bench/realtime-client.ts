/** A WebSocket client that only counts what it hears: the load must cost less than what is measured. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Measured } from './processes.ts';

const blank = Buffer.from('\r\n\r\n');

export class RealtimeClient {
  private readonly socket: Socket;
  private rest: Buffer = Buffer.alloc(0);
  private upgraded = false;
  private events = 0;
  private waiting: { readonly count: number; readonly done: () => void } | null = null;
  private failed: ((error: Error) => void) | null = null;
  private over: Error | null = null;

  constructor(target: Measured) {
    const { hostname, port, host } = new URL(target.url);
    this.socket = connect(Number(port), hostname);
    this.socket.setNoDelay(true);
    this.socket.write(
      `GET /v1/realtime?model=demo-realtime HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${target.key}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    );
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', (error) => this.end(error));
    this.socket.on('close', () => this.end(new Error('a realtime session was closed')));
  }

  /** Resolves when so many events have come since the last call. */
  seen(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.over !== null) return reject(this.over);
      this.waiting = { count, done: resolve };
      this.failed = reject;
      this.check();
    });
  }

  /** Asks for an answer of so much sound; resolves when all its events are there. */
  ask(chunks: number, events: number): Promise<void> {
    const text = `{"type":"response.create","response":{"instructions":"[chunks=${chunks}] [delay=100]"}}`;
    this.socket.write(masked(Buffer.from(text)));
    return this.seen(events);
  }

  close(): void {
    this.over = new Error('closed');
    this.socket.destroy();
  }

  private end(error: Error): void {
    this.over ??= error;
    this.failed?.(this.over);
  }

  private check(): void {
    if (this.waiting === null || this.events < this.waiting.count) return;
    const { count, done } = this.waiting;
    this.events -= count;
    this.waiting = null;
    this.failed = null;
    done();
  }

  private read(chunk: Buffer): void {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    if (!this.upgraded) {
      const end = this.rest.indexOf(blank);
      if (end < 0) return;
      const line = this.rest.toString('latin1', 0, this.rest.indexOf('\r\n'));
      if (!line.includes(' 101 ')) return void this.socket.destroy(new Error(`the upgrade was answered with ${line}`));
      this.upgraded = true;
      this.rest = this.rest.subarray(end + blank.length);
    }
    for (let length = frameLength(this.rest); length <= this.rest.length; length = frameLength(this.rest)) {
      const opcode = this.rest[0]! & 0x0f;
      if (opcode === 1) this.events++;
      if (opcode === 9) this.socket.write(masked(Buffer.alloc(0), 10));
      this.rest = this.rest.subarray(length);
    }
    this.check();
  }
}

/** Of the frame that begins the bytes; more than there are where its head is not whole. */
function frameLength(bytes: Buffer): number {
  if (bytes.length < 2) return 2 + bytes.length;
  const short = bytes[1]! & 0x7f;
  if (short < 126) return 2 + short;
  if (short === 126) return bytes.length < 4 ? 5 : 4 + bytes.readUInt16BE(2);
  return bytes.length < 10 ? 11 : 10 + Number(bytes.readBigUInt64BE(2));
}

/** A frame of a client, shorter than 64 KB, under the mask of zeros. */
function masked(payload: Buffer, opcode = 1): Buffer {
  const short = payload.length < 126;
  const head = Buffer.alloc(short ? 6 : 8);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (short ? payload.length : 126);
  if (!short) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
