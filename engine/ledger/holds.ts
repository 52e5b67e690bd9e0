/** Holds and settlements: the arithmetic of the hot path, in memory and in whole numbers. */
import type { Hold, KeyRecord } from '../contract/ports.ts';
import type { UsageRow } from '../contract/usage.ts';
import { GatewayError } from '../errors.ts';
import type { Entry } from './applier.ts';
import type { Journal } from './journal.ts';
import { encodeLine } from './journal-line.ts';
import { type Records, StoredKeyRecord } from './records.ts';
import { detailsOf } from './usage-columns.ts';

class OpenHold implements Hold {
  readonly key: StoredKeyRecord;
  readonly amount: number;
  settled = false;

  constructor(key: StoredKeyRecord, amount: number) {
    this.key = key;
    this.amount = amount;
  }
}

/**
 * Sets an amount aside; null where balance or key quota does not cover it. Throws GatewayError `overloaded` while the
 * journal cannot be written: what would be done then could not be booked.
 */
export function hold(journal: Journal<Entry>, key: KeyRecord, amount: number): Hold | null {
  if (!(key instanceof StoredKeyRecord)) throw new TypeError('The key is not of this ledger.');
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is not an amount.`);
  if (!journal.writable()) throw new GatewayError('overloaded');
  if (!key.covers(amount)) return null;
  key.hold(amount);
  return new OpenHold(key, amount);
}

/** Sets an amount aside that was set aside before, without asking whether it is covered. */
export function resume(records: Records, owner: { keyId: number; userId: number }, amount: number): Hold {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is not an amount.`);
  const key = records.key(owner.keyId, owner.userId);
  key.hold(amount);
  return new OpenHold(key, amount);
}

/** Ends the hold, if any, and hands the row to the journal. */
export function settle(records: Records, journal: Journal<Entry>, held: Hold | null, row: UsageRow): Promise<void> {
  const details = detailsOf(row);
  const key = release(held, row) ?? records.key(row.keyId, row.userId);
  const { requestId, time, userId, keyId, quota } = row;
  key.charge(quota);
  return journal.append({ key, requestId, time, userId, keyId, quota, details }, encodeLine(details));
}

function release(held: Hold | null, row: UsageRow): StoredKeyRecord | null {
  if (held === null) return null;
  if (!(held instanceof OpenHold)) throw new TypeError('The hold is not of this ledger.');
  if (held.settled) throw new Error(`Request ${row.requestId} was settled already.`);
  if (row.keyId !== held.key.id || row.userId !== held.key.userId) {
    throw new TypeError(`The usage row of request ${row.requestId} names another key than its hold.`);
  }
  held.settled = true;
  held.key.hold(-held.amount);
  return held.key;
}
