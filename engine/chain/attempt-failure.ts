/** What went wrong with one attempt, as a loop over attempts counts it. */
import { GatewayError } from '../errors.ts';
import { TooLargeError, TransportError } from '../upstream/answer.ts';
import { codecFailure, type Failure, malformed, transportFailure } from '../upstream/failure.ts';

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
