/** How long a body may take, also where its client is silent for longer than uWS would wait. */
import { performance } from 'node:perf_hooks';
import { GatewayError } from '../errors.ts';
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

/** ms; a body that goes on coming need not restart the deadline at every chunk. */
const restartStep = 1000;

/** For bodies that may take long: calls `failed` where nothing was `heard` for `timeout` ms. */
export function startSilenceDeadline(
  native: NativeResponse,
  request: Receiving,
  timeout: number,
  failed: (error: GatewayError) => void,
): { heard(): void; cancel(): void } {
  const start = () =>
    startReceiveDeadline(native, request, timeout, () =>
      failed(new GatewayError('request_timeout', `The body stopped coming for ${timeout / 1000} s.`)),
    );
  let deadline = start();
  let startedAt = performance.now();
  return {
    heard() {
      const now = performance.now();
      if (now - startedAt < restartStep) return;
      startedAt = now;
      deadline.cancel();
      deadline = start();
    },
    cancel: () => deadline.cancel(),
  };
}
