/** One after the other, and patient with a database that another process is writing to. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { isBusy, type LedgerDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** ms for which a busy database is tried again. */
const patience = 5_000;
const pause = 10;

/** Runs each operation when the one before it has ended, well or not. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operation, operation);
    this.#last = result.catch(() => {
      // Its own caller gets the fault; the next operation starts all the same.
    });
    return result;
  }
}

/** Repeats an operation that leaves nothing behind when it fails, while the database is busy, without blocking. */
export async function patiently<T>(operation: () => Promise<T>): Promise<T> {
  const until = Date.now() + patience;
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!isBusy(error) || Date.now() > until) throw error;
    }
    await delay(pause);
  }
}

/** Writes in one transaction, when no other connection does. */
export function write<T>(
  database: LedgerDatabase,
  change: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return patiently(() => database.query.transaction().execute(change));
}
