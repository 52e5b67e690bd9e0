/** How long a body may take, also where its client is silent for longer than uWS would wait. */
import { startDeadline } from '../wire/deadline.ts';
import type { NativeResponse } from './reply.ts';

/** uWS cuts a connection after 10 s of silence within a body, without an answer; `resume` starts its clock anew. */
const longestSilence = 4_000;

/** The request whose body is read; once it has ended, its response is not to be touched. */
export interface Receiving {
  readonly aborted: boolean;
  readonly settled: boolean;
}

/** Calls `expired` after `timeout` ms unless it is cancelled or the request has ended before. */
export function startReceiveDeadline(
  native: NativeResponse,
  request: Receiving,
  timeout: number,
  expired: () => void,
): { cancel(): void } {
  const wait = (left: number) => {
    if (left <= longestSilence) return startDeadline(left, expired);
    return startDeadline(longestSilence, () => {
      if (request.aborted || request.settled) return;
      native.pause();
      native.resume();
      deadline = wait(left - longestSilence);
    });
  };
  let deadline = wait(timeout);
  return { cancel: () => deadline.cancel() };
}
