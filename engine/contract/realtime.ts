/** The contract of realtime sessions: one socket to the client, one to the vendor, events both ways. */
import type { GatewayError } from '../errors.ts';
import type { Usage } from './usage.ts';
import type { JsonObject } from './values.ts';

export interface RealtimeCall {
  readonly kind: 'realtime';
  readonly model: string;
  readonly stream: true;
  /** What is held for the next answer of the session. */
  readonly bound: Usage;
}

export interface RealtimeProtocol {
  readonly kind: 'realtime';
  readonly name: string;
  readonly summary: string;
  /** The client side; absent where no client speaks it. */
  readonly client?: {
    encodeError(error: GatewayError, requestId: string): JsonObject;
  };
}
