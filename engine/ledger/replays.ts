/**
 * First answers of idempotent requests, for 24 hours: bodies are files, the rest is a table. A request that is still
 * running is known to this process only, so what a dead process began counts as new.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReplayAnswer, ReplayState, Replays } from '../contract/ports.ts';
import type { Log } from '../contract/values.ts';
import { write } from './serial.ts';
import type { LedgerDatabase } from './sqlite.ts';

const lifetime = 24 * 3_600_000;
const purgeInterval = 600_000;
/** Answers that are kept at most, and bytes of one. */
const maximumAnswers = 200_000;
const maximumAnswerBytes = 64 * 1024 * 1024;

export interface ReplaysOptions {
  readonly folder: string;
  readonly database: LedgerDatabase;
  readonly log: Log;
  readonly now: () => number;
  /** Bytes of all bodies together; the oldest go first. */
  readonly maximumBytes: number;
}

interface Running {
  readonly bodyHash: string;
}

export interface OpenReplays extends Replays {
  /** Forgets what is too old, and files that no row knows. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the folder and removes what is out of date. */
export async function openReplays(options: ReplaysOptions): Promise<OpenReplays> {
  await mkdir(options.folder, { recursive: true, mode: 0o750 });
  await removeOrphans(options);
  const replays = new FolderReplays(options);
  await replays.start();
  return replays;
}

class FolderReplays implements OpenReplays {
  readonly #options: ReplaysOptions;
  readonly #running = new Map<string, Running>();
  readonly #lookups = new Map<string, Promise<ReplayState>>();
  readonly #timer: NodeJS.Timeout;
  #purging: Promise<void> = Promise.resolve();
  #bytes = 0;
  #answers = 0;

  constructor(options: ReplaysOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#purging = this.purge().catch((error: unknown) => {
        options.log.error({ err: error }, 'old answers could not be removed');
      });
    }, purgeInterval);
    this.#timer.unref();
  }

  async start(): Promise<void> {
    const { bytes, answers } = await this.#options.database.query
      .selectFrom('replays')
      .select((select) => [
        select.fn.sum<number | null>('size').as('bytes'),
        select.fn.countAll<number>().as('answers'),
      ])
      .executeTakeFirstOrThrow();
    this.#bytes = Number(bytes ?? 0);
    this.#answers = Number(answers);
    await this.purge();
  }

  async begin(scope: string, bodyHash: string): Promise<ReplayState> {
    for (let lookup = this.#lookups.get(scope); lookup !== undefined; lookup = this.#lookups.get(scope)) {
      await lookup.catch(() => {
        // Its own caller gets the fault; this one looks for itself.
      });
    }
    const running = this.#running.get(scope);
    if (running !== undefined) return { state: running.bodyHash === bodyHash ? 'running' : 'conflict' };
    const lookup = this.#lookUp(scope, bodyHash).finally(() => this.#lookups.delete(scope));
    this.#lookups.set(scope, lookup);
    return lookup;
  }

  async finish(scope: string, answer: ReplayAnswer): Promise<void> {
    const running = this.#running.get(scope);
    if (running === undefined) throw new Error('The idempotent request was not begun, or has ended already.');
    try {
      if (answer.body.length <= maximumAnswerBytes) await this.#store(scope, running.bodyHash, answer);
      else this.#options.log.warn({ bytes: answer.body.length }, 'an answer is too large to be kept for repetition');
    } finally {
      this.#running.delete(scope);
    }
    await this.#shrink();
  }

  abandon(scope: string): void {
    this.#running.delete(scope);
  }

  async purge(): Promise<void> {
    const { database, now } = this.#options;
    const rows = await database.query
      .selectFrom('replays')
      .select(['scope', 'file', 'size'])
      .where('created_at', '<=', now() - lifetime)
      .execute();
    for (const row of rows) await this.#forget(row);
    await this.#shrink();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#purging;
  }

  async #lookUp(scope: string, bodyHash: string): Promise<ReplayState> {
    const { database, folder, now } = this.#options;
    const row = await database.query.selectFrom('replays').selectAll().where('scope', '=', scope).executeTakeFirst();
    if (row !== undefined && row.created_at > now() - lifetime) {
      if (row.body_hash !== bodyHash) return { state: 'conflict' };
      const body = await readOrNull(join(folder, row.file));
      if (body !== null && body.length === row.size) {
        return { state: 'done', status: row.status, contentType: row.content_type, body };
      }
    }
    if (row !== undefined) await this.#forget(row);
    this.#running.set(scope, { bodyHash });
    return { state: 'new' };
  }

  async #store(scope: string, bodyHash: string, answer: ReplayAnswer): Promise<void> {
    const { database, folder, now } = this.#options;
    const file = randomBytes(16).toString('hex');
    await writeFile(join(folder, file), answer.body, { flag: 'wx', mode: 0o640 });
    const { status, contentType, body } = answer;
    const row = { body_hash: bodyHash, status, content_type: contentType, file, size: body.length, created_at: now() };
    await write(database, (transaction) =>
      transaction
        .insertInto('replays')
        .values({ scope, ...row })
        .execute(),
    );
    this.#bytes += row.size;
    this.#answers++;
  }

  async #shrink(): Promise<void> {
    while (this.#bytes > this.#options.maximumBytes || this.#answers > maximumAnswers) {
      const oldest = await this.#options.database.query
        .selectFrom('replays')
        .select(['scope', 'file', 'size'])
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst();
      if (oldest === undefined) return;
      await this.#forget(oldest);
    }
  }

  /** Two that forget the same row at once count it once. */
  async #forget(row: { readonly scope: string; readonly file: string; readonly size: number }): Promise<void> {
    const { database, folder } = this.#options;
    const { numDeletedRows } = await write(database, (transaction) =>
      transaction
        .deleteFrom('replays')
        .where('scope', '=', row.scope)
        .where('file', '=', row.file)
        .executeTakeFirstOrThrow(),
    );
    if (numDeletedRows > 0n) {
      this.#bytes -= row.size;
      this.#answers--;
    }
    await rm(join(folder, row.file), { force: true });
  }
}

/** Files that a crash left without a row. */
async function removeOrphans(options: ReplaysOptions): Promise<void> {
  const rows = await options.database.query.selectFrom('replays').select('file').execute();
  const known = new Set(rows.map((row) => row.file));
  for (const name of await readdir(options.folder)) {
    if (!known.has(name)) await rm(join(options.folder, name), { force: true, recursive: true });
  }
}

async function readOrNull(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
