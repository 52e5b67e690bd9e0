import { GatewayError } from '../errors.ts';

/** Whatever went wrong while storing, as the error a client gets; the reason is for the log. */
export function storageFailed(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : new GatewayError('storage_failed', undefined, { cause });
}
