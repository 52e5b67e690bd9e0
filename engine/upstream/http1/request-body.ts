/** Writes a request, its body as fast as the vendor takes it. */
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { StreamedBody } from '../transport.ts';

/** Bytes up to which a copy is cheaper than a second piece of a write. */
const smallRequest = 16 * 1024;

/** Head and body in one write. */
export function writeWhole(socket: Socket, head: string, body: Buffer | readonly Buffer[]): void {
  if (Buffer.isBuffer(body) && head.length + body.length <= smallRequest) {
    const bytes = Buffer.allocUnsafe(head.length + body.length);
    bytes.write(head, 0, 'latin1');
    body.copy(bytes, head.length);
    socket.write(bytes);
    return;
  }
  socket.cork();
  socket.write(head, 'latin1');
  if (Buffer.isBuffer(body)) socket.write(body);
  else for (const piece of body) socket.write(piece);
  socket.uncork();
}

/** One body on its way. */
export class BodyWriter {
  done = false;
  private readonly socket: Socket;
  private stopped = false;
  private wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Resolves when all is written or it was stopped; rejects where the body cannot be read or is not as long as it said. */
  async write(body: StreamedBody): Promise<void> {
    let left = body.length;
    for await (const piece of body.read()) {
      // Leaving the loop closes what is read from.
      if (this.stopped) return;
      left -= piece.length;
      if (left < 0) throw new Error('the body is longer than it said');
      if (piece.length > 0 && !this.socket.write(piece)) await this.drain();
      if (this.stopped) return;
    }
    if (left > 0) throw new Error('the body is shorter than it said');
    this.done = true;
  }

  drained(): void {
    const { wake } = this;
    this.wake = null;
    wake?.();
  }

  stop(): void {
    this.stopped = true;
    this.drained();
  }

  private drain(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
