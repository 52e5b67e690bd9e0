/** Opens the ledger of a data folder: for the one gateway that serves from it, or for the command line beside it. */
import { join } from 'node:path';
import type { Hold, KeyRecord, Ledger, Replays } from '../contract/ports.ts';
import type { UsageRow } from '../contract/usage.ts';
import type { Log, MaybePromise } from '../contract/values.ts';
import { makeFolder } from '../make-folder.ts';
import { type OpenResponses, openResponses } from '../responses/store.ts';
import { createTaskStore } from '../tasks/store.ts';
import type { TaskStore } from '../tasks/task.ts';
import { createAccounts } from './accounts.ts';
import type { Accounts } from './accounts-contract.ts';
import { Applier, type Entry } from './applier.ts';
import { createApply } from './apply.ts';
import { CreditWatch } from './credit-watch.ts';
import { hold, resume, settle } from './holds.ts';
import { Journal, type JournalSync } from './journal.ts';
import { KeyCache } from './key-cache.ts';
import { lockFolder } from './lock.ts';
import { Records } from './records.ts';
import { replayJournal } from './replay.ts';
import { type OpenReplays, openReplays } from './replays.ts';
import { Retirement } from './retirement.ts';
import { patiently, Serial } from './serial.ts';
import { type LedgerDatabase, openDatabase } from './sqlite.ts';

export interface LedgerOptions {
  /** The data folder; made where it is missing. */
  readonly folder: string;
  readonly log: Log;
  /** When charges reach the device. */
  readonly sync: JournalSync;
  readonly now?: () => number;
  /** Bytes of a journal segment. */
  readonly segmentSize?: number;
  /** Bytes of all kept answers of idempotent requests together. */
  readonly replayBytes?: number;
}

export interface OpenLedger extends Ledger {
  readonly accounts: Accounts;
  readonly replays: Replays;
  readonly responses: OpenResponses;
  readonly tasks: TaskStore;
  /**
   * Takes the hold of work again that began in an earlier life of the process, whether or not it is still covered: it was
   * when the work was accepted.
   */
  resume(owner: { readonly keyId: number; readonly userId: number }, amount: number): Hold;
  /** Resolves when everything that was settled is in the database. */
  flush(): Promise<void>;
  /** Flushes, removes the journal and lets the folder go. */
  close(): Promise<void>;
}

/** ms within which a change by another process is noticed. */
const pollInterval = 250;
/** Of a gateway nothing may block the event loop for long: it waits by trying again, and checkpoints elsewhere. */
const gateway = { busyTimeout: 2, autoCheckpoint: 65_536 };
const command = { busyTimeout: 5_000, autoCheckpoint: 1_000 };
const megabyte = 1024 * 1024;

/** Opens the accounts without the lock: any number of processes may, beside a running gateway too. */
export async function openAccounts(folder: string): Promise<Accounts & { close(): Promise<void> }> {
  await makeFolder(folder);
  const database = await openDatabase(join(folder, 'gateway.db'), command);
  const accounts = createAccounts({ database, folder, now: Date.now, onChange: () => {} });
  return { ...accounts, close: () => database.close() };
}

/** Opens the folder for a gateway: locks it, replays what a crash left in the journal, and starts. */
export async function openLedger(options: LedgerOptions): Promise<OpenLedger> {
  await makeFolder(join(options.folder, 'journal'));
  const unlock = await lockFolder(options.folder);
  try {
    const database = await openDatabase(join(options.folder, 'gateway.db'), gateway);
    try {
      return await startLedger(options, database, unlock);
    } catch (error) {
      await database.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

async function startLedger(options: LedgerOptions, database: LedgerDatabase, unlock: () => void): Promise<OpenLedger> {
  const { log } = options;
  const now = options.now ?? Date.now;
  const folder = join(options.folder, 'journal');
  const records = new Records();
  const apply = createApply(database, (keyId) => records.mayHaveQuota(keyId));
  const checkpoint = () => database.checkpoint();
  const firstNumber = await replayJournal({ folder, apply, checkpoint, log });
  const replays = await openReplays({
    folder: join(options.folder, 'replays'),
    database,
    log,
    now,
    maximumBytes: options.replayBytes ?? 1024 * megabyte,
  });
  const responses = openResponses({ database, log, now });
  await responses.sweep();
  const credits = new CreditWatch(database, records);
  await credits.start();
  const serial = new Serial();
  const journal: Journal<Entry> = new Journal({
    folder,
    sync: options.sync,
    log,
    segmentSize: options.segmentSize ?? 4 * megabyte,
    firstNumber,
    onWritten: (entries, segment) => applier.add(entries, segment),
    onFailed: (entries) => {
      for (const entry of entries) entry.key.charge(-entry.quota);
    },
  });
  const retirement = new Retirement(checkpoint, journal.segments, log);
  const applier = new Applier({
    apply,
    serial,
    onApplied: ({ balances, quotas }) => {
      for (const { id, balance } of balances) records.setBalance(id, balance);
      for (const { id, quota_left } of quotas) records.setQuota(id, quota_left);
    },
    retirement,
    log,
  });
  return new FolderLedger({
    database,
    journal,
    applier,
    records,
    replays,
    responses,
    keys: new KeyCache(database, records, serial),
    credits,
    serial,
    folder: options.folder,
    now,
    log,
    unlock,
  });
}

interface Parts {
  readonly database: LedgerDatabase;
  readonly journal: Journal<Entry>;
  readonly applier: Applier;
  readonly records: Records;
  readonly replays: OpenReplays;
  readonly responses: OpenResponses;
  readonly keys: KeyCache;
  readonly credits: CreditWatch;
  readonly serial: Serial;
  readonly folder: string;
  readonly now: () => number;
  readonly log: Log;
  readonly unlock: () => void;
}

class FolderLedger implements OpenLedger {
  readonly accounts: Accounts;
  readonly replays: OpenReplays;
  readonly tasks: TaskStore;
  readonly responses: OpenResponses;
  readonly #parts: Parts;
  readonly #poll: NodeJS.Timeout;
  #version: number;
  #closing: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.replays = parts.replays;
    this.responses = parts.responses;
    const { database, folder, now } = parts;
    this.tasks = createTaskStore(database);
    this.accounts = createAccounts({ database, folder, now, onChange: () => this.#changed() });
    this.#version = parts.database.version();
    this.#poll = setInterval(() => this.#noticeChanges(), pollInterval);
    this.#poll.unref();
  }

  findKey(hash: string): MaybePromise<KeyRecord | null> {
    return this.#parts.keys.find(hash);
  }

  hold(key: KeyRecord, amount: number): Hold | null {
    return hold(this.#parts.journal, key, amount);
  }

  resume(owner: { readonly keyId: number; readonly userId: number }, amount: number): Hold {
    return resume(this.#parts.records, owner, amount);
  }

  settle(held: Hold | null, row: UsageRow): Promise<void> {
    return settle(this.#parts.records, this.#parts.journal, held, row);
  }

  async flush(): Promise<void> {
    await this.#parts.journal.drain();
    await this.#parts.applier.drain();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { journal, applier, replays, responses, database, unlock } = this.#parts;
    clearInterval(this.#poll);
    try {
      await journal.close();
      await applier.drain();
      await replays.close();
      await responses.close();
    } finally {
      await applier.stop();
      await database.close();
      unlock();
    }
  }

  #changed(): void {
    const { keys, credits, serial, log } = this.#parts;
    keys.expire();
    serial
      .run(() => patiently(() => credits.read()))
      .catch((error: unknown) => {
        log.error({ err: error }, 'new credits cannot be read');
      });
  }

  #noticeChanges(): void {
    try {
      const version = this.#parts.database.version();
      if (version === this.#version) return;
      this.#version = version;
      this.#changed();
    } catch (error) {
      this.#parts.log.error({ err: error }, 'the database cannot be watched for changes');
    }
  }
}
