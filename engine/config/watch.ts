/** Tells when the content of watched files changed, however an editor or a config map brings the change about. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { watch as watchPaths } from 'chokidar';
import type { Log } from '../contract/values.ts';
import { watchedPaths } from './watched-paths.ts';

export interface ConfigurationWatch {
  close(): Promise<void>;
}

/** Changes less than `quiet` ms apart count as one, but none waits longer than `longest` ms. */
const quiet = 100;
const longest = 1_000;
/** A folder that was added is watched some ms later: what changes meanwhile is found by these looks. */
const looksAfterAdding = [200, 1_000];

/** Larger than any file of a configuration may be. */
const largest = 16 * 1_048_576;

function digest(file: string): string {
  try {
    const status = statSync(file);
    // What the loader refuses to read is not read here either: it might never end.
    if (!status.isFile() || status.size > largest) return `not read: ${status.size} ${status.mtimeMs}`;
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** Of a file that was not watched while it was read: one that changed meanwhile counts as changed. */
function firstDigest(file: string, readSince: number): string {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changed >= readSince ? 'changed while it was read' : digest(file);
}

/** Another folder of the same name has another one; null where there is none. */
function identityOf(folder: string): string | null {
  const status = statSync(folder, { throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev} ${status.ino} ${status.birthtimeMs}`;
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
  let wanted = watchedPaths(files);
  let running = Promise.resolve();
  let closed = false;

  const isOther = (path: string): boolean => !wanted.paths.has(path) && !wanted.folders.includes(path);
  const watcher = watchPaths([...wanted.folders], {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: isOther,
  });

  // A folder that is made later than it was asked for, or anew, is taken up at the next event, which its parent brings.
  const adopted = new Map(wanted.folders.map((folder) => [folder, identityOf(folder)]));
  const adopt = (): void => {
    const changed = wanted.folders.filter((folder) => adopted.get(folder) !== identityOf(folder));
    const made = changed.filter((folder) => identityOf(folder) !== null);
    for (const folder of changed) adopted.set(folder, identityOf(folder));
    if (made.length === 0) return;
    watcher.unwatch(made);
    watcher.add(made);
    for (const delay of looksAfterAdding) setTimeout(look, delay).unref();
  };

  const follow = (next: readonly string[], now: Digests, started: number): void => {
    known = new Map(next.map((file) => [file, now.get(file) ?? firstDigest(file, started)]));
    const left = new Set(wanted.folders);
    wanted = watchedPaths(next);
    for (const folder of wanted.folders) left.delete(folder);
    watcher.unwatch([...left]);
    for (const folder of left) adopted.delete(folder);
    adopt();
  };

  const run = async (): Promise<void> => {
    for (;;) {
      adopt();
      const now = digestAll([...known.keys()]);
      if (closed || !differ(known, now)) return;
      // Before the call: what changes while it runs is seen in the next round.
      known = now;
      const started = Date.now();
      follow(await onChange(), now, started);
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
