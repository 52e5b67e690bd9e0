/** Kept answers in the database: written in groups, found by id or by what stood in them, swept when they expire. */
import type { Transaction } from 'kysely';
import type { MarkedResponse, Responses, StoredResponse } from '../contract/responses.ts';
import type { JsonObject, Log } from '../contract/values.ts';
import { write } from '../ledger/serial.ts';
import type { LedgerDatabase } from '../ledger/sqlite.ts';
import type { ResponsesTable, Tables } from '../ledger/tables.ts';

const sweepInterval = 600_000;
/** Rows that one transaction of a sweep takes: others write in between. */
const sweepBatch = 200;
/** Bytes that wait to be written at most: a database that cannot keep up must not fill the memory. */
const mostWaiting = 256 * 1024 * 1024;

export interface ResponsesOptions {
  readonly database: LedgerDatabase;
  readonly log: Log;
  readonly now: () => number;
}

export interface ResponsesSettings {
  /** ms; 0: nothing is kept. */
  readonly keep: number;
  /** Bytes of all kept answers together; of the user who keeps most those that expire first go first. */
  readonly maximumSize: number;
}

export interface OpenResponses extends Responses {
  configure(settings: ResponsesSettings): void;
  /** Forgets what has expired and what is too much. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** One answer on its way into the database. */
interface Waiting {
  readonly row: ResponsesTable;
  readonly marks: readonly string[];
  readonly before: readonly string[];
  readonly written: () => void;
  readonly failed: (error: unknown) => void;
}

export const openResponses = (options: ResponsesOptions): OpenResponses => new DatabaseResponses(options);

class DatabaseResponses implements OpenResponses {
  readonly #options: ResponsesOptions;
  readonly #timer: NodeJS.Timeout;
  #settings: ResponsesSettings = { keep: 0, maximumSize: Number.POSITIVE_INFINITY };
  #sweeping: Promise<void> = Promise.resolve();
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | null = null;

  constructor(options: ResponsesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#sweeping = this.sweep().catch((error: unknown) => {
        options.log.error({ err: error }, 'kept responses could not be removed');
      });
    }, sweepInterval);
    this.#timer.unref();
  }

  get keep(): number {
    return this.#settings.keep;
  }

  configure(settings: ResponsesSettings): void {
    this.#settings = settings;
  }

  async find(id: string): Promise<StoredResponse | null> {
    const row = await this.#options.database.query
      .selectFrom('responses')
      .selectAll()
      .where('id', '=', id)
      .where('expires_at', '>', this.#options.now())
      .executeTakeFirst();
    return row === undefined ? null : storedOf(row);
  }

  /** Without the texts: one answer has as many marks as items, and would come once for each of them. */
  async findMarks(marks: readonly string[]): Promise<ReadonlyMap<string, MarkedResponse>> {
    if (marks.length === 0) return new Map();
    const rows = await this.#options.database.query
      .selectFrom('response_marks')
      .innerJoin('responses', 'responses.id', 'response_marks.response_id')
      .select(['mark', 'id', 'user_id', 'channel', 'credential', 'named', 'size'])
      .where('mark', 'in', marks)
      .where('expires_at', '>', this.#options.now())
      .execute();
    return new Map(rows.map((row) => [row.mark, markedOf(row)]));
  }

  put(stored: StoredResponse, marks: readonly string[], before: readonly string[]): Promise<void> {
    const row = rowOf(stored, this.#options.now() + this.keep);
    if (this.#waitingBytes + row.size > mostWaiting)
      return Promise.reject(new Error('too many responses wait to be written'));
    this.#waitingBytes += row.size;
    return new Promise((written, failed) => {
      this.#waiting.push({ row, marks, before, written, failed });
      this.#writing ??= this.#writeAll();
    });
  }

  async delete(id: string): Promise<void> {
    await write(this.#options.database, (transaction) =>
      transaction.deleteFrom('responses').where('id', '=', id).execute(),
    );
  }

  async sweep(): Promise<void> {
    const { database, now } = this.#options;
    const oldest = database.query
      .selectFrom('responses')
      .select(['id', 'size'])
      .orderBy('expires_at')
      .limit(sweepBatch);
    for (;;) {
      const expired = await oldest.where('expires_at', '<=', now()).execute();
      if (expired.length === 0) break;
      await this.#forget(expired.map(({ id }) => id));
    }
    for (let excess = await this.#excess(); excess > 0; ) {
      const taken: string[] = [];
      for (const { id, size } of await oldest.where('user_id', '=', await this.#largestUser()).execute()) {
        if (excess <= 0) break;
        taken.push(id);
        excess -= size;
      }
      if (taken.length === 0) return;
      await this.#forget(taken);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await this.#writing;
  }

  /** Those that come while others are written go together in the next transaction. */
  async #writeAll(): Promise<void> {
    // All that ends in the same turn of the event loop goes into one.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await write(this.#options.database, (transaction) => insert(transaction, group));
        for (const { written } of group) written();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
      for (const { row } of group) this.#waitingBytes -= row.size;
    }
    this.#writing = null;
  }

  async #excess(): Promise<number> {
    const { bytes } = await this.#options.database.query
      .selectFrom('responses')
      .select((select) => select.fn.sum<number | null>('size').as('bytes'))
      .executeTakeFirstOrThrow();
    return Number(bytes ?? 0) - this.#settings.maximumSize;
  }

  /** Who keeps most gives way: nobody can push out what others keep. */
  async #largestUser(): Promise<number> {
    const { user_id: user } = await this.#options.database.query
      .selectFrom('responses')
      .select('user_id')
      .groupBy('user_id')
      .orderBy((select) => select.fn.sum('size'), 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    return user;
  }

  async #forget(ids: readonly string[]): Promise<void> {
    await write(this.#options.database, (transaction) =>
      transaction.deleteFrom('responses').where('id', 'in', ids).execute(),
    );
  }
}

async function insert(transaction: Transaction<Tables>, group: readonly Waiting[]): Promise<void> {
  for (const { row, marks, before } of group) {
    // An id that is known already stays whose it is.
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('responses')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) continue;
    for (const mark of new Set(marks))
      await transaction
        .insertInto('response_marks')
        .values({ mark, response_id: row.id })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    if (before.length > 0)
      await transaction
        .updateTable('responses')
        .set({ expires_at: row.expires_at })
        .where('id', 'in', before)
        .execute();
  }
}

/** What a row costs beside its texts. */
const rowBytes = 200;

function rowOf(
  { id, userId, place, named, previous, input, response }: StoredResponse,
  expires: number,
): ResponsesTable {
  const texts = {
    input: input.length === 0 ? null : JSON.stringify(input),
    response: response === null ? null : JSON.stringify(response),
  };
  return {
    id,
    user_id: userId,
    channel: place?.channel ?? null,
    credential: place?.credential ?? null,
    named: named ? 1 : 0,
    previous_id: previous,
    ...texts,
    size: rowBytes + (texts.input?.length ?? 0) + (texts.response?.length ?? 0),
    expires_at: expires,
  };
}

function markedOf(row: Omit<ResponsesTable, 'previous_id' | 'input' | 'response' | 'expires_at'>): MarkedResponse {
  const { id, user_id: userId, channel, credential, size } = row;
  const place = channel === null || credential === null ? null : { channel, credential };
  return { id, userId, place, named: row.named === 1, size };
}

function storedOf(row: ResponsesTable): StoredResponse {
  const { size: _, ...marked } = markedOf(row);
  return {
    ...marked,
    previous: row.previous_id,
    input: row.input === null ? [] : (JSON.parse(row.input) as JsonObject[]),
    response: row.response === null ? null : (JSON.parse(row.response) as JsonObject),
  };
}
