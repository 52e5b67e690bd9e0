/** The loop over channels that all requests share which wait for their vendor's answer. */
import { GatewayError } from '../errors.ts';
import type { Failure } from '../upstream/failure.ts';
import { asFailure, ChannelUnfit } from './attempt-failure.ts';
import type { Attempts, Try } from './attempts.ts';

/** One request, as the loop sees it. */
export interface Trying<T> {
  attempt(tried: Try): Promise<T>;
  /** Lets go of an answer that may still be coming. */
  giveUp(): void;
  /** Why the request must not go on, through no fault of a channel; else null. */
  stopped(): GatewayError | null;
  /** Something of an answer has gone out: another channel would repeat it. */
  begun(): boolean;
  /**
   * Where no channel answers: what is answered in a vendor's stead, or throws what the client gets. `last` is the failure
   * that ended the search; null where no channel is left.
   */
  instead?(error: GatewayError, last: Failure | null): T;
}

/** What the first channel answers that does not fail. Throws what the client gets where none does. */
export async function tryChannels<T>(attempts: Attempts, trying: Trying<T>): Promise<T> {
  for (;;) {
    const stopped = trying.stopped();
    if (stopped !== null) throw stopped;
    const next = attempts.next();
    if (next instanceof GatewayError) return unanswered(trying, next, null);
    try {
      return await trying.attempt(next);
    } catch (error) {
      // A vendor that sends on would hold its connection for ever: nobody reads what comes.
      trying.giveUp();
      const last = book(attempts, next, error, trying);
      if (last !== null) return unanswered(trying, last.error, last);
    }
  }
}

function unanswered<T>(trying: Trying<T>, error: GatewayError, last: Failure | null): T {
  if (trying.instead === undefined) throw error;
  return trying.instead(error, last);
}

/** The failure after which no other channel is tried; null: the next one is. Throws what is no channel's fault. */
function book(attempts: Attempts, tried: Try, error: unknown, trying: Trying<unknown>): Failure | null {
  if (error instanceof ChannelUnfit) {
    attempts.unfit(tried, error.reason);
    return null;
  }
  const stopped = trying.stopped();
  const failure = stopped === null ? asFailure(error) : null;
  if (failure === null) {
    attempts.abandoned(tried);
    throw stopped ?? error;
  }
  return attempts.failedWith(tried, failure) && !trying.begun() ? null : failure;
}
