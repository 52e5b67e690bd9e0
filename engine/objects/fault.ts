import { GatewayError } from '../errors.ts';

/** Whatever went wrong while storing, as the error a client gets; the reason is for the log. */
export const storageFailed = (cause: unknown): GatewayError => new GatewayError('storage_failed', undefined, { cause });
