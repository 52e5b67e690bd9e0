/** The contract of video tasks: submitted, polled, stored, fetched. */
import type { GatewayError } from '../errors.ts';
import type { Usage } from './usage.ts';
import type { JsonObject } from './values.ts';

export interface VideoCall {
  readonly kind: 'video';
  readonly model: string;
  readonly stream: false;
  /** What it will cost, as far as can be told before it runs. */
  readonly bound: Usage;
}

export interface VideoProtocol {
  readonly kind: 'video';
  readonly name: string;
  readonly summary: string;
  /** The client side; absent where no client speaks it. */
  readonly client?: {
    encodeError(error: GatewayError, requestId: string): JsonObject;
  };
}
