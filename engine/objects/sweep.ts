/** Deletes the images of the folder engine whose retention is over: one file at a time, with pauses, while requests go on. */
import { opendir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../contract/values.ts';
import { Repetition } from '../wire/repetition.ts';
import { isKey } from './key.ts';

interface SweepOptions {
  /** The folder of the objects. */
  readonly folder: string;
  /** ms that an image is kept after it was stored. */
  readonly retention: number;
  readonly log: Log;
}

/** First part of the keys that are swept: videos go with their tasks. */
const prefix = 'images';
const oneDay = 86_400_000;

/** Files looked at between two pauses, and ms of a pause: at most 2,000 a second. */
const batch = 100;
const pause = 50;
/** ms between two looks. */
const longestRest = 3_600_000;
const shortestRest = 50;

/** One folder of keys: `name` is `<yyyy>/<mm>/<dd>`, `began` the start of that day in UTC. */
interface Day {
  readonly name: string;
  readonly began: number;
}

/** What one look did. */
interface Tally {
  images: number;
  bytes: number;
  failed: number;
  firstFault: unknown;
}

export class ImageSweeper {
  private readonly options: SweepOptions;
  private readonly looks = new Repetition(() => this.look());

  constructor(options: SweepOptions) {
    this.options = options;
  }

  start(): void {
    this.looks.start(shortestRest);
  }

  /** Resolves when the file that is being deleted is gone. */
  close(): Promise<void> {
    return this.looks.close();
  }

  /** Answers when to look again. */
  private async look(): Promise<number> {
    const { retention, log } = this.options;
    const tally: Tally = { images: 0, bytes: 0, failed: 0, firstFault: null };
    const limit = Date.now() - retention;
    const unreadable = (error: unknown) => {
      if (!isMissing(error)) log.error({ err: error }, 'the folders of stored images cannot be read');
    };
    try {
      // One that cannot be read keeps no other from its turn.
      for (const day of await this.days())
        if (day.began <= limit) await this.sweep(day, limit, tally).catch(unreadable);
    } catch (error) {
      unreadable(error);
    }
    const { images, bytes, failed, firstFault } = tally;
    if (images > 0) log.info({ images, bytes }, 'images whose retention is over were deleted');
    if (failed > 0)
      log.error({ err: firstFault, failed }, 'images whose retention is over could not be deleted and will be later');
    return Math.max(shortestRest, Math.min(longestRest, retention / 4));
  }

  /** The oldest first. */
  private async days(): Promise<readonly Day[]> {
    const found: Day[] = [];
    const root = join(this.options.folder, prefix);
    for (const year of await foldersIn(root, /^\d{4}$/)) {
      for (const month of await foldersIn(join(root, year), /^\d\d$/)) {
        for (const date of await foldersIn(join(root, year, month), /^\d\d$/))
          found.push({ name: `${year}/${month}/${date}`, began: Date.UTC(+year, +month - 1, +date) });
      }
    }
    return found;
  }

  /** Files that were stored before `limit`; what is no object of ours stays. */
  private async sweep({ name, began }: Day, limit: number, tally: Tally): Promise<void> {
    const path = join(this.options.folder, prefix, name);
    let looked = 0;
    for await (const entry of await opendir(path)) {
      if (this.looks.closed) return;
      if (!entry.isFile() || !isKey(`${prefix}/${name}/${entry.name}`)) continue;
      await removeBefore(join(path, entry.name), limit, tally);
      if (++looked % batch === 0) await wait(pause);
    }
    // Nothing is stored any more under a day that is over.
    if (began + oneDay <= limit) await rmdir(path).catch(keepsWhatIsFull);
  }
}

/** Someone else deletes, too. */
const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

async function removeBefore(path: string, limit: number, tally: Tally): Promise<void> {
  try {
    const { mtimeMs, size } = await stat(path);
    if (mtimeMs > limit) return;
    await rm(path, { force: true });
    tally.images++;
    tally.bytes += size;
  } catch (error) {
    if (isMissing(error)) return;
    tally.failed++;
    tally.firstFault ??= error;
  }
}

/** Real folders only: a link could lead anywhere. */
async function foldersIn(path: string, pattern: RegExp): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory() && pattern.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

function keepsWhatIsFull(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
}
