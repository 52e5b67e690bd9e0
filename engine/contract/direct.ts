/** The contract of routes that are one question and one answer: embeddings, rerank, moderations, audio. */
import type { GatewayError } from '../errors.ts';
import type { Operation } from './operations.ts';
import type { Usage } from './usage.ts';
import type { JsonObject } from './values.ts';

export interface DirectCall {
  readonly kind: 'direct';
  readonly operation: Operation;
  readonly model: string;
  readonly stream: boolean;
  /** The most it may cost, as far as can be told before it runs. */
  readonly bound: Usage;
}

export interface DirectProtocol {
  readonly kind: 'direct';
  readonly name: string;
  readonly summary: string;
  /** The client side; absent where no client speaks it. */
  readonly client?: {
    encodeError(error: GatewayError, requestId: string): JsonObject;
  };
}
