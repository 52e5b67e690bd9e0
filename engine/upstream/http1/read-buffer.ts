/**
 * Where a socket reads to. Small reads go into one buffer that all sockets share, and are copied before anybody hears of
 * them: an open stream holds no memory while nothing comes. Behind a large read the next one is likely large too and goes
 * into a buffer of the connection's own, whose bytes are handed on as they are.
 */
import { Buffer } from 'node:buffer';

const shared = Buffer.allocUnsafeSlow(64 * 1024);
/** Bytes of a read from which on it is large: a full TLS record is. */
const large = 16 * 1024;
const slabSize = 64 * 1024;
const smallestSlab = 32 * 1024;

export class ReadBuffer {
  /** What the socket has now, and what it gets next; it asks behind each read. */
  private current: Buffer = shared;
  private wanted: Buffer = shared;

  next(): Buffer {
    this.current = this.wanted;
    return this.current;
  }

  /** The first `length` bytes of what was read into, which nothing writes to any more. */
  take(length: number): Buffer {
    const { current } = this;
    if (length < large) this.wanted = shared;
    else if (current !== shared && current.length - length >= smallestSlab) this.wanted = current.subarray(length);
    else this.wanted = Buffer.allocUnsafeSlow(slabSize);
    if (current !== shared && length >= large) return current.subarray(0, length);
    const bytes = Buffer.allocUnsafe(length);
    current.copy(bytes, 0, 0, length);
    return bytes;
  }

  /** Nothing more is expected. */
  rest(): void {
    this.wanted = shared;
  }
}
