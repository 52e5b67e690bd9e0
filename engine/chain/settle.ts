/** The end of a request, exactly once: success, failure, client abort, timeout, reload, shutdown. */
import { noUsage, type Outcome, type Usage } from '../contract/usage.ts';
import type { Log } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import type { LiveExchange } from './exchange.ts';

/** What watches every ended request: metrics, the request log. */
export interface Observer {
  ended(exchange: LiveExchange, outcome: Outcome): void;
  /** A part of a session was charged; the outcome of the session does not count it again. */
  charged(exchange: LiveExchange, usage: Usage): void;
}

/** The hooks still to run, and what the earlier ones said. */
interface Settling {
  readonly exchange: LiveExchange;
  readonly log: Log;
  readonly observer: Observer;
  readonly done: (refusal: GatewayError | null) => void;
  outcome: Outcome;
  /** A hook took the answer back: the client gets this error instead. */
  refusal: GatewayError | null;
}

/**
 * Runs the `onSettled` hooks from the last of the chain to the first: money is settled before an answer is kept for
 * repetition and before a place is given back. Then `done` is called, at once where no hook needed a promise: the last
 * byte of the reply may go out, or the GatewayError that a hook threw goes out instead. Any other error of a hook is its
 * own trouble: it is logged. A second call does nothing.
 */
export function settle(
  exchange: LiveExchange,
  outcome: Outcome,
  observer: Observer,
  log: Log,
  done: (refusal: GatewayError | null) => void,
): void {
  if (exchange.settled) return;
  exchange.settled = true;
  exchange.deadline?.cancel();
  const settling: Settling = { exchange, log, observer, done, outcome, refusal: null };
  if (exchange.owed) runSettled(settling, 0);
  else finish(settling);
}

function finish({ exchange, outcome, observer, refusal, done }: Settling): void {
  exchange.release?.();
  exchange.snapshot.leave();
  observer.ended(exchange, outcome);
  done(refusal);
}

/** One hook's failure must not keep the next from running. */
function runSettled(settling: Settling, from: number): void {
  const { exchange } = settling;
  const hooks = exchange.compiled.onSettled;
  for (let index = from; index < hooks.length; index++) {
    try {
      const pending = hooks[index]!(exchange, settling.outcome);
      if (pending !== undefined) return settleRest(settling, index + 1, pending);
    } catch (error) {
      hookFailed(settling, error);
    }
  }
  finish(settling);
}

function settleRest(settling: Settling, from: number, pending: Promise<void>): void {
  pending.then(
    () => runSettled(settling, from),
    (error: unknown) => {
      hookFailed(settling, error);
      runSettled(settling, from);
    },
  );
}

function hookFailed(settling: Settling, error: unknown): void {
  const { exchange, log } = settling;
  log.error({ err: error, requestId: exchange.id }, 'a plugin failed while a request was settled');
  if (!(error instanceof GatewayError) || settling.refusal !== null) return;
  settling.refusal = error;
  settling.outcome = { kind: 'error', status: error.status, code: error.code, usage: noUsage };
}
