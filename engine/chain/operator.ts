/** What the engine does on a route once the head was accepted; one operator per kind of operation. */
import type { NativeResponse } from '../http/reply.ts';
import type { LiveExchange } from './exchange.ts';

export interface Operator {
  /** Called while uWS still holds the request: reads the body; `ready` is pending while the head is being checked. */
  begin(exchange: LiveExchange, native: NativeResponse, ready: Promise<void> | undefined): void;
}
