/** The end of a request, exactly once: success, failure, client abort, timeout, reload, shutdown. */
import type { Outcome } from '../contract/usage.ts';
import type { LiveExchange } from './exchange.ts';

/** What watches every ended request: metrics, the request log. */
export interface Observer {
  ended(exchange: LiveExchange, outcome: Outcome): void;
}

/**
 * Runs the `onSettled` hooks in chain order. The last byte of the reply may go out when the answer is undefined or its
 * promise has resolved. A second call does nothing.
 */
export function settle(exchange: LiveExchange, outcome: Outcome, observer: Observer): Promise<void> | undefined {
  if (exchange.settled) return undefined;
  exchange.settled = true;
  exchange.deadline?.cancel();
  const pending = exchange.owed ? runSettled(exchange, outcome, 0) : undefined;
  if (pending === undefined) {
    finish(exchange, outcome, observer);
    return undefined;
  }
  return pending.finally(() => finish(exchange, outcome, observer));
}

function finish(exchange: LiveExchange, outcome: Outcome, observer: Observer): void {
  exchange.snapshot.leave();
  observer.ended(exchange, outcome);
}

/** One hook's failure must not keep the next from running: the money is often the last. The first error is thrown at the end. */
function runSettled(exchange: LiveExchange, outcome: Outcome, from: number): Promise<void> | undefined {
  const hooks = exchange.compiled.onSettled;
  let failed: unknown;
  for (let index = from; index < hooks.length; index++) {
    try {
      const pending = hooks[index]!(exchange, outcome);
      if (pending !== undefined) return settleRest(exchange, outcome, index + 1, pending, failed);
    } catch (error) {
      failed ??= error;
    }
  }
  return failed === undefined ? undefined : Promise.reject(failed);
}

async function settleRest(
  exchange: LiveExchange,
  outcome: Outcome,
  from: number,
  pending: Promise<void>,
  earlier: unknown,
): Promise<void> {
  let failed = earlier;
  try {
    await pending;
  } catch (error) {
    failed ??= error;
  }
  try {
    await runSettled(exchange, outcome, from);
  } catch (error) {
    failed ??= error;
  }
  if (failed !== undefined) throw failed;
}
