/** A vendor's whole answer: how large it may be, and what a bad one means. */
import type { JsonValue } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { GatewayError } from '../../errors.ts';
import { codecFailure, type Failure, malformed, vendorFailure } from '../../upstream/failure.ts';
import type { Target } from '../target.ts';

/** Bytes. */
export const largestReply = 64 * 1024 * 1024;
export const largestError = 256 * 1024;

/** What was thrown by whoever read a body that should have been an answer. */
export function unreadableReply(thrown: unknown, status: number): Failure {
  if (thrown instanceof GatewayError) return codecFailure(thrown);
  return malformed(thrown instanceof Error ? thrown.message : String(thrown), status);
}

/** The body of an error status. */
export function errorReply(target: Target, status: number, retryAfter: number | null, body: Buffer): Failure {
  let reported: VendorError | null = null;
  try {
    reported = target.bridge!.decodeError(JSON.parse(body.toString('utf8')) as JsonValue);
  } catch {
    // Proxies in front of vendors answer HTML: the status says all there is.
  }
  return vendorFailure(target.channel.vendor, status, reported, retryAfter);
}
