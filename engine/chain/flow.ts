/** The common steps of every operator: wait for the head's verdict, run the request hooks, go on or end. */
import type { GatewayError } from '../errors.ts';
import type { Ending } from './ending.ts';
import type { LiveExchange } from './exchange.ts';
import { runRequest } from './hooks.ts';

/** The body is there (or failed); `ready` is pending while the head is still being checked. */
export function whenReady(
  exchange: LiveExchange,
  ready: Promise<void> | undefined,
  error: GatewayError | null,
  ending: Ending,
  accept: (exchange: LiveExchange) => void,
): void {
  const go = () => {
    if (exchange.settled) return;
    if (error !== null) return ending.fail(exchange, error);
    try {
      accept(exchange);
    } catch (thrown) {
      ending.fail(exchange, thrown);
    }
  };
  if (ready === undefined) go();
  // A head that was refused has ended the exchange already.
  else ready.then(go, () => {});
}

/** Runs the request hooks, then `go`; a LocalReply or an error ends the exchange instead. */
export function proceed(exchange: LiveExchange, ending: Ending, go: (exchange: LiveExchange) => void): void {
  const answer = runRequest(exchange.compiled.onRequest, exchange);
  if (!(answer instanceof Promise)) {
    if (answer !== undefined) return ending.sendLocal(exchange, answer);
    exchange.inCharge = true;
    return go(exchange);
  }
  answer
    .then((local) => {
      if (exchange.settled) return;
      if (local !== undefined) return ending.sendLocal(exchange, local);
      exchange.inCharge = true;
      go(exchange);
    })
    .catch((thrown: unknown) => ending.fail(exchange, thrown));
}
