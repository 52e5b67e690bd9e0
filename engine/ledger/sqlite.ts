/** SQLite through Kysely: the only file that knows libsql. */
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import Database from 'libsql';
import AsynchronousDatabase from 'libsql/promise';
import { LRUCache } from 'lru-cache';
import { migrate } from './migrations.ts';
import type { Tables } from './tables.ts';

export interface DatabaseSettings {
  /** ms that a statement may wait, and block, for another connection's writing. */
  readonly busyTimeout: number;
  /** Pages (4 KB) of write-ahead log after which a commit moves them into the database file, and blocks meanwhile. */
  readonly autoCheckpoint: number;
}

export interface LedgerDatabase {
  readonly query: Kysely<Tables>;
  /** Changes whenever another connection, of this process or another, has committed. */
  version(): number;
  /**
   * Moves everything that was committed into the database file and syncs it, on a thread of its own: it takes tens of
   * milliseconds. False where a reader or a writer is in the way.
   */
  checkpoint(): Promise<boolean>;
  /** No checkpoint may be running. */
  close(): Promise<void>;
}

/** Opens the file, makes it where it is missing, and brings its schema up to date. */
export async function openDatabase(path: string, settings: DatabaseSettings): Promise<LedgerDatabase> {
  try {
    return await open(path, settings);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The database ${path} cannot be opened: ${reason}`, { cause: error });
  }
}

async function open(path: string, settings: DatabaseSettings): Promise<LedgerDatabase> {
  const connection = new Database(path);
  try {
    connection.exec('PRAGMA busy_timeout = 5000');
    connection.exec('PRAGMA journal_mode = WAL');
    connection.exec('PRAGMA synchronous = NORMAL');
    connection.exec('PRAGMA foreign_keys = ON');
    // 32 MB: new rows go to many places of the index by user.
    connection.exec('PRAGMA cache_size = -32768');
    const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapt(connection) }) });
    await migrateAlone(connection, query);
    connection.exec(`PRAGMA busy_timeout = ${settings.busyTimeout}`);
    connection.exec(`PRAGMA wal_autocheckpoint = ${settings.autoCheckpoint}`);
    const checkpoints = new Checkpoints(path);
    return {
      query,
      version: dataVersion(connection),
      checkpoint: () => checkpoints.run(),
      close: () => {
        checkpoints.close();
        return query.destroy();
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Takes a lock on the file that lasts until it is released or the process ends, in whatever way: it is the operating
 * system's lock on an SQLite file. Null where somebody else has it.
 */
export function lockFile(path: string): (() => void) | null {
  const connection = new Database(path);
  try {
    connection.exec('PRAGMA journal_mode = MEMORY');
    connection.exec('BEGIN EXCLUSIVE');
    return () => connection.close();
  } catch (error) {
    connection.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** Whether a statement failed only because another connection was writing. */
export function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED');
}

/** ms for which whoever opens the file waits for another connection's writing. */
const openTimeout = 5_000;

/** Waits without blocking: the connection that writes may belong to this process, which then has to go on. */
async function beginAlone(connection: Database.Database): Promise<void> {
  connection.exec('PRAGMA busy_timeout = 20');
  for (const started = performance.now(); ; await delay(20)) {
    try {
      connection.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - started > openTimeout) throw error;
    }
  }
}

/** Two processes may open a new folder at once: the second waits here and finds the work done. */
async function migrateAlone(connection: Database.Database, query: Kysely<Tables>): Promise<void> {
  await beginAlone(connection);
  try {
    await migrate(query);
    connection.exec('COMMIT');
  } catch (error) {
    connection.exec('ROLLBACK');
    throw error;
  }
}

/** Kysely prepares each statement anew; the cache makes that once per text. */
function adapt(connection: Database.Database): SqliteDatabase {
  const statements = new LRUCache<string, SqliteStatement>({ max: 200 });
  const prepare = (text: string): SqliteStatement => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const boundary = boundaries[text];
    const statement =
      boundary === undefined ? adaptStatement(connection.prepare(text)) : adaptBoundary(() => boundary(connection));
    statements.set(text, statement);
    return statement;
  };
  return { prepare, close: () => void connection.close() };
}

/**
 * Transactions begin as writers, so that only their beginning can be refused as busy. libsql does not reset a prepared
 * statement that was refused: it would keep its view of the data, and with it every later write, out of date. `exec`
 * leaves no statement behind. A rollback finds nothing to do where SQLite has rolled back by itself (a full disk).
 */
const boundaries: Readonly<Record<string, (connection: Database.Database) => void>> = {
  begin: (connection) => connection.exec('BEGIN IMMEDIATE'),
  commit: (connection) => connection.exec('COMMIT'),
  rollback: (connection) => {
    if (connection.inTransaction) connection.exec('ROLLBACK');
  },
};

function adaptBoundary(move: () => void): SqliteStatement {
  const run = () => {
    move();
    return { changes: 0, lastInsertRowid: 0 };
  };
  return { reader: false, run, all: () => [], iterate: () => [].values() };
}

function adaptStatement(statement: Database.Statement): SqliteStatement {
  return {
    reader: statement.reader,
    all: (parameters) => statement.all(parameters),
    run: (parameters) => statement.run(parameters),
    iterate: (parameters) => statement.iterate(parameters),
  };
}

function dataVersion(connection: Database.Database): () => number {
  const statement = connection.prepare('PRAGMA data_version');
  return () => (statement.all([])[0] as { data_version: number }).data_version;
}

/** A connection of their own, opened for the first: libsql runs the statements of an asynchronous one on other threads. */
class Checkpoints {
  readonly #path: string;
  #connection: AsynchronousDatabase | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async run(): Promise<boolean> {
    this.#connection ??= new AsynchronousDatabase(this.#path, {});
    const statement = await this.#connection.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    const [row] = await statement.all([]);
    const { busy, log, checkpointed } = row as { busy: number; log: number; checkpointed: number };
    return busy === 0 && log === checkpointed;
  }

  close(): void {
    this.#connection?.close();
  }
}
