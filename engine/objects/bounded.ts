import { longestTimer } from '../wire/deadline.ts';

/**
 * Runs one operation for at most `timeout` ms and ends then whether or not what it calls obeys the signal. `abort` ends
 * it early with that reason.
 */
export async function bounded<T>(
  timeout: number,
  run: (signal: AbortSignal, abort: (reason: unknown) => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (reason: unknown) => controller.abort(reason);
  const longest = Math.min(timeout, longestTimer);
  const timer = setTimeout(() => abort(new Error(`There was no end within ${timeout} ms.`)), longest);
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
  });
  try {
    return await Promise.race([aborted, run(controller.signal, abort)]);
  } finally {
    clearTimeout(timer);
  }
}
