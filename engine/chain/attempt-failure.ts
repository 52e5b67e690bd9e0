/** What went wrong with one attempt, as a loop over attempts counts it. */

import type { JsonValue } from '../contract/values.ts';
import type { VendorDefinition } from '../contract/vendor.ts';
import type { VendorError } from '../contract/wire.ts';
import { GatewayError } from '../errors.ts';
import { type Answer, TooLargeError, TransportError } from '../upstream/answer.ts';
import { codecFailure, type Failure, malformed, transportFailure, vendorFailure } from '../upstream/failure.ts';
import { retryAfterSeconds } from '../upstream/headers.ts';
import { parsedJson } from '../wire/parse-json.ts';

/** An attempt that failed; the loop decides what follows. */
export class AttemptFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The request cannot be said in the channel's protocol; nothing was sent. */
export class ChannelUnfit extends Error {
  readonly reason: GatewayError;

  constructor(reason: GatewayError) {
    super(reason.message);
    this.reason = reason;
  }
}

/** The request for a channel. Throws ChannelUnfit where `encode` refuses it. */
export function sayable<T>(encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    // A fault of ours is no reason to go on.
    throw error instanceof GatewayError && error.status === 400 ? new ChannelUnfit(error) : error;
  }
}

/** What of the thrown things is the attempt's failure; null: the gateway's own (storage, a bug). */
export function asFailure(error: unknown): Failure | null {
  if (error instanceof AttemptFailed) return error.failure;
  if (error instanceof TransportError) return transportFailure(error.failure);
  if (error instanceof TooLargeError) return malformed(error.message);
  if (error instanceof GatewayError && isCodecError(error)) return codecFailure(error);
  return null;
}

function isCodecError(error: GatewayError): boolean {
  return (
    error.code === 'moderation_blocked' ||
    error.code === 'upstream_no_image' ||
    error.code === 'upstream_invalid_response'
  );
}

const largestError = 256 * 1024;

type DecodeError = (body: JsonValue) => VendorError | null;

/** An answer with an error status, read to its end. */
export async function refusalOf(answer: Answer, vendor: VendorDefinition, decodeError: DecodeError): Promise<Failure> {
  let reported: VendorError | null = null;
  try {
    const body = await answer.read(largestError);
    reported = decodeError(JSON.parse(body.toString('utf8')) as JsonValue);
  } catch {
    // Proxies in front of vendors answer HTML: the status says all there is.
  }
  return vendorFailure(vendor, answer.status, reported, retryAfterOf(answer));
}

/** A whole answer of at most `largest` bytes. Throws AttemptFailed for a refusal, also one with status 200, and for no JSON. */
export async function jsonAnswer(
  answer: Answer,
  largest: number,
  vendor: VendorDefinition,
  decodeError: DecodeError,
): Promise<JsonValue> {
  const { status } = await answer.head;
  if (status >= 300) throw new AttemptFailed(await refusalOf(answer, vendor, decodeError));
  const value = parsedJson(await answer.read(largest));
  if (value === undefined) throw new AttemptFailed(malformed('the answer is no JSON', status));
  const reported = decodeError(value);
  if (reported !== null) throw new AttemptFailed(vendorFailure(vendor, status, reported, retryAfterOf(answer)));
  return value;
}

const retryAfterOf = ({ headers }: Answer): number | null => retryAfterSeconds(headers, Date.now());
