import { createHmac } from 'node:crypto';

/** Fixed, so that the same answer carries the same signature in every process. */
const KEY = 'simulator';
const DIGEST_BYTES = 32;

/** An opaque Base64 text around `text`, as vendors sign thoughts; whoever alters it is found out by `unseal`. */
export function seal(text: string): string {
  return Buffer.concat([digest(text), Buffer.from(text)]).toString('base64');
}

/** What was sealed, or undefined for anything that no simulator sealed. */
export function unseal(sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.toString('base64') !== sealed) return undefined;
  const text = bytes.toString('utf8', DIGEST_BYTES);
  return bytes.subarray(0, DIGEST_BYTES).equals(digest(text)) ? text : undefined;
}

function digest(text: string): Buffer {
  return createHmac('sha256', KEY).update(text).digest();
}
