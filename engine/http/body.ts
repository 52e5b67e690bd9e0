/** Reads a request body into one Buffer, bounded in size and time. */
import { Buffer } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import { type Receiving, startReceiveDeadline } from './receive-deadline.ts';
import type { NativeResponse } from './reply.ts';

/** A size for people: `1 MB`, `64 KB`. */
function readableSize(bytes: number): string {
  if (bytes >= 1024 * 1024) return `${Math.floor(bytes / 1024 / 1024)} MB`;
  return bytes >= 1024 ? `${Math.floor(bytes / 1024)} KB` : `${bytes} bytes`;
}

export function tooLarge(limit: number): GatewayError {
  return new GatewayError(
    'body_too_large',
    `The body is larger than the ${readableSize(limit)} that this route accepts.`,
  );
}

/**
 * Calls back once: with the whole body, or with the error. Must be called while uWS still holds the request; chunks are
 * copied out of native memory, which is only lent. After an error the rest of the body is read and thrown away.
 */
export function readBody(
  native: NativeResponse,
  request: Receiving,
  limit: number,
  timeout: number,
  done: (error: GatewayError | null, body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let finished = false;
  const deadline = startReceiveDeadline(native, request, timeout, () => {
    finish(new GatewayError('request_timeout', `The body did not arrive within ${timeout / 1000} s.`));
  });
  const finish = (error: GatewayError | null) => {
    if (finished) return;
    finished = true;
    deadline.cancel();
    done(
      error,
      error !== null || length === 0 ? emptyBody : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length),
    );
  };
  native.onData((chunk, isLast) => {
    if (finished) return;
    length += chunk.byteLength;
    if (length > limit) {
      chunks.length = 0;
      finish(tooLarge(limit));
      return;
    }
    if (chunk.byteLength > 0) chunks.push(copied(chunk));
    if (isLast) finish(null);
  });
}

function copied(chunk: ArrayBuffer): Buffer {
  const bytes = Buffer.allocUnsafe(chunk.byteLength);
  bytes.set(new Uint8Array(chunk));
  return bytes;
}

export const emptyBody = Buffer.alloc(0);
