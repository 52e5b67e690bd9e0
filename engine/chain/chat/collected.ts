/** Bytes of an answer that come in pieces and are read together. */
import { Buffer } from 'node:buffer';

export class Collected {
  length = 0;
  private chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
  }

  all(): Buffer {
    return this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.length);
  }

  clear(): void {
    if (this.chunks.length > 0) this.chunks = [];
    this.length = 0;
  }
}
