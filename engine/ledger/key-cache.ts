/** Keys by hash, in memory; the database is asked for those that are not there or may have changed. */
import { LRUCache } from 'lru-cache';
import type { KeyRecord } from '../contract/ports.ts';
import type { MaybePromise } from '../contract/values.ts';
import type { Records, StoredKeyRecord } from './records.ts';
import { patiently, type Serial } from './serial.ts';
import type { LedgerDatabase } from './sqlite.ts';

const maximumKeys = 50_000;
const maximumUnknown = 10_000;
/** Bounds by size: `max` would lay out all places at once, 5 ms of each start. */
const one = () => 1;
/** ms for which an unknown hash is not asked for again; a change in the database ends it at once. */
const unknownFor = 5_000;

export class KeyCache {
  readonly #database: LedgerDatabase;
  readonly #records: Records;
  readonly #serial: Serial;
  readonly #keys = new LRUCache<string, StoredKeyRecord>({ maxSize: maximumKeys, sizeCalculation: one });
  readonly #unknown = new LRUCache<string, true>({ maxSize: maximumUnknown, sizeCalculation: one, ttl: unknownFor });
  readonly #loading = new Map<string, Promise<KeyRecord | null>>();
  #generation = 0;

  constructor(database: LedgerDatabase, records: Records, serial: Serial) {
    this.#database = database;
    this.#records = records;
    this.#serial = serial;
  }

  /** The database was changed by somebody: each key is read anew when it is next asked for. */
  expire(): void {
    this.#generation++;
    this.#unknown.clear();
  }

  find(hash: string): MaybePromise<KeyRecord | null> {
    const key = this.#keys.get(hash);
    if (key !== undefined && key.generation === this.#generation) return key;
    if (key === undefined && this.#unknown.has(hash)) return null;
    const loading = this.#loading.get(hash);
    if (loading !== undefined) return loading;
    const loaded = this.#serial.run(() => patiently(() => this.#load(hash))).finally(() => this.#loading.delete(hash));
    this.#loading.set(hash, loaded);
    return loaded;
  }

  async #load(hash: string): Promise<KeyRecord | null> {
    const generation = this.#generation;
    const row = await this.#database.query
      .selectFrom('keys')
      .innerJoin('users', 'users.id', 'keys.user_id')
      .selectAll('keys')
      .select(['users.balance as user_balance', 'users.disabled as user_disabled'])
      .where('keys.hash', '=', hash)
      .executeTakeFirst();
    if (row === undefined) {
      this.#keys.delete(hash);
      if (generation === this.#generation) this.#unknown.set(hash, true);
      return null;
    }
    const key = this.#records.key(row.id, row.user_id);
    key.load(row);
    key.account.load({ balance: row.user_balance, disabled: row.user_disabled });
    key.generation = generation;
    this.#keys.set(hash, key);
    return key;
  }
}
