/** The loop over channels that all requests share which wait for their vendor's answer. */
import { GatewayError } from '../errors.ts';
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
}

/** What the first channel answers that does not fail. Throws what the client gets where none does. */
export async function tryChannels<T>(attempts: Attempts, trying: Trying<T>): Promise<T> {
  for (;;) {
    const stopped = trying.stopped();
    if (stopped !== null) throw stopped;
    const next = attempts.next();
    if (next instanceof GatewayError) throw next;
    try {
      return await trying.attempt(next);
    } catch (error) {
      // A vendor that sends on would hold its connection for ever: nobody reads what comes.
      trying.giveUp();
      book(attempts, next, error, trying);
    }
  }
}

/** Returns where the next channel is to be tried. */
function book(attempts: Attempts, tried: Try, error: unknown, trying: Trying<unknown>): void {
  if (error instanceof ChannelUnfit) return attempts.unfit(tried, error.reason);
  const stopped = trying.stopped();
  const failure = stopped === null ? asFailure(error) : null;
  if (failure === null) {
    attempts.abandoned(tried);
    throw stopped ?? error;
  }
  if (!attempts.failedWith(tried, failure) || trying.begun()) throw failure.error;
}
