/** Tells when the content of watched files changed, however an editor or a config map brings the change about. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { watch as watchPaths } from 'chokidar';
import type { Log } from '../contract/values.ts';
import { watchedFolders } from './watched-folders.ts';

export interface ConfigurationWatch {
  close(): Promise<void>;
}

/** Changes less than `quiet` ms apart count as one, but none waits longer than `longest` ms. */
const quiet = 100;
const longest = 1_000;
/** A folder that was added is watched some ms later: what changes meanwhile is found by these looks. */
const looksAfterAdding = [200, 1_000];

function digest(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}

type Digests = ReadonlyMap<string, string>;

const digestAll = (files: readonly string[]): Digests => new Map(files.map((file) => [file, digest(file)]));

const differ = (before: Digests, now: Digests): boolean =>
  [...now].some(([file, value]) => before.has(file) && before.get(file) !== value);

/** Calls `act` once things have been quiet for a while after `stir`. */
function createSettling(act: () => void): { stir(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  let since = 0;
  const stop = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const stir = (): void => {
    const now = Date.now();
    if (timer === null) since = now;
    stop();
    timer = setTimeout(
      () => {
        timer = null;
        act();
      },
      Math.max(0, Math.min(quiet, since + longest - now)),
    );
  };
  return { stir, stop };
}

/**
 * Calls `onChange` after the content of one of the files changed; it answers the files to watch from then on. Calls
 * never overlap. Errors of `onChange` go to the log.
 */
export function watchConfiguration(
  files: readonly string[],
  onChange: () => Promise<readonly string[]>,
  log: Log,
): ConfigurationWatch {
  let known = digestAll(files);
  let folders = watchedFolders(files);
  let running = Promise.resolve();
  let closed = false;

  const watcher = watchPaths(folders, { depth: 0, ignoreInitial: true, followSymlinks: false });

  const follow = (next: readonly string[], now: Digests): void => {
    known = new Map(next.map((file) => [file, now.get(file) ?? digest(file)]));
    const wanted = watchedFolders(next);
    watcher.unwatch(folders.filter((folder) => !wanted.includes(folder)));
    const added = wanted.filter((folder) => !folders.includes(folder));
    watcher.add(added);
    folders = wanted;
    if (added.length > 0) for (const delay of looksAfterAdding) setTimeout(look, delay).unref();
  };

  const run = async (): Promise<void> => {
    for (;;) {
      const now = digestAll([...known.keys()]);
      if (closed || !differ(known, now)) return;
      // Before the call: what changes while it runs is seen in the next round.
      known = now;
      follow(await onChange(), now);
    }
  };

  const settling = createSettling(() => {
    running = running.then(run).catch((error: unknown) => log.error({ error }, 'the reload failed'));
  });

  function look(): void {
    if (!closed) settling.stir();
  }

  for (const event of ['all', 'raw', 'ready'] as const) watcher.on(event, look);
  watcher.on('error', (error) => log.error({ error }, 'a configuration file cannot be watched'));

  return {
    async close() {
      closed = true;
      settling.stop();
      await watcher.close();
      await running;
    },
  };
}
