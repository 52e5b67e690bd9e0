import type { Readable } from 'node:stream';

/**
 * The chunks of a body whose length must be `length` bytes; throws where it is shorter or longer. One chunk is always
 * held back, so that a receiver which counts bytes never sees a complete object of a body that turns out too long.
 */
export async function* exactly(body: Buffer | Readable, length: number): AsyncGenerator<Buffer> {
  let received = 0;
  let held: Buffer | null = null;
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as string | Uint8Array);
    received += bytes.length;
    if (received > length) throw new Error(`The body is longer than the announced ${length} bytes.`);
    if (held !== null) yield held;
    held = bytes;
  }
  if (received < length) throw new Error(`The body ended after ${received} of the announced ${length} bytes.`);
  if (held !== null) yield held;
}
