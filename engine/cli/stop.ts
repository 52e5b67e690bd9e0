/** Waiting for whoever ends a command that runs until it is told to stop. */

/** npm hands a Ctrl-C on once more: a signal this soon after the first is the same one. */
const echo = 500;

/**
 * Resolves at the first SIGINT, SIGTERM or (where `hangUp` is given no handler) SIGHUP. A later signal ends the process
 * at once.
 */
export function untilStopped(hangUp?: () => void): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | null = null;
    const stop = (signal: NodeJS.Signals): void => {
      if (since === null) {
        since = performance.now();
        resolve(signal);
      } else if (performance.now() - since > echo) process.exit(1);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    process.on('SIGHUP', hangUp ?? stop);
  });
}
