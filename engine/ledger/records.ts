/** What the hot path knows of keys and accounts. The objects stay the same while anybody holds them. */
import type { Account, KeyRecord, LimitSettings } from '../contract/ports.ts';
import type { KeysTable, UsersTable } from './tables.ts';

const unlimited: LimitSettings = Object.freeze({ requestsPerMinute: null, tokensPerMinute: null, concurrency: null });

export class AccountRecord implements Account {
  readonly userId: number;
  disabled = false;
  /** As the database has it. */
  balance = 0;
  /** Charges that are in the journal, or on the way there, and not yet in the database. */
  pending = 0;
  held = 0;

  constructor(userId: number) {
    this.userId = userId;
  }

  get available(): number {
    return this.balance - this.pending - this.held;
  }

  load(user: Pick<UsersTable, 'balance' | 'disabled'>): void {
    this.balance = user.balance;
    this.disabled = user.disabled !== 0;
  }
}

export class StoredKeyRecord implements KeyRecord {
  readonly id: number;
  readonly userId: number;
  readonly account: AccountRecord;
  name = '';
  group = '';
  models: ReadonlySet<string> | null = null;
  disabled = false;
  expiresAt: number | null = null;
  limits: LimitSettings = unlimited;
  /** As the database has it; null: no quota of its own. */
  quotaInDatabase: number | null = null;
  pending = 0;
  held = 0;
  /** The database version that it was read at. */
  generation = -1;

  constructor(id: number, account: AccountRecord) {
    this.id = id;
    this.userId = account.userId;
    this.account = account;
  }

  get quotaLeft(): number | null {
    return this.quotaInDatabase === null ? null : this.quotaInDatabase - this.pending;
  }

  /** Whether balance and own quota, less what is held, cover the amount. Who has overdrawn is not covered for 0 either. */
  covers(amount: number): boolean {
    if (this.account.available < amount) return false;
    return this.quotaInDatabase === null || this.quotaInDatabase - this.pending - this.held >= amount;
  }

  hold(amount: number): void {
    this.held += amount;
    this.account.held += amount;
  }

  charge(amount: number): void {
    this.pending += amount;
    this.account.pending += amount;
  }

  load(row: Omit<KeysTable, 'id'>): void {
    this.name = row.name;
    this.group = row.group_name;
    this.models = row.models === null ? null : new Set(JSON.parse(row.models) as string[]);
    this.disabled = row.disabled !== 0;
    this.expiresAt = row.expires_at;
    this.limits = limitsOf(row.limits);
    this.quotaInDatabase = row.quota_left;
  }
}

/** The limits that a key's row carries. */
export function limitsOf(text: string | null): LimitSettings {
  return text === null ? unlimited : { ...unlimited, ...(JSON.parse(text) as Partial<LimitSettings>) };
}

/** Objects by number, for as long as anybody else holds them: what is charged or held is never lost to a full cache. */
class WeakIndex<T extends object> {
  readonly #references = new Map<number, WeakRef<T>>();
  readonly #registry = new FinalizationRegistry<number>((id) => {
    if (this.#references.get(id)?.deref() === undefined) this.#references.delete(id);
  });

  get(id: number): T | undefined {
    return this.#references.get(id)?.deref();
  }

  obtain(id: number, create: () => T): T {
    const known = this.get(id);
    if (known !== undefined) return known;
    const made = create();
    this.#references.set(id, new WeakRef(made));
    this.#registry.register(made, id);
    return made;
  }
}

/** The keys and accounts in memory. */
export class Records {
  readonly #accounts = new WeakIndex<AccountRecord>();
  readonly #keys = new WeakIndex<StoredKeyRecord>();

  account(userId: number): AccountRecord {
    return this.#accounts.obtain(userId, () => new AccountRecord(userId));
  }

  key(id: number, userId: number): StoredKeyRecord {
    return this.#keys.obtain(id, () => new StoredKeyRecord(id, this.account(userId)));
  }

  /** False where it is known that the key has no quota of its own. A key never changes in that. */
  mayHaveQuota(keyId: number): boolean {
    const key = this.#keys.get(keyId);
    return key === undefined || key.generation < 0 || key.quotaInDatabase !== null;
  }

  setBalance(userId: number, balance: number): void {
    const account = this.#accounts.get(userId);
    if (account !== undefined) account.balance = balance;
  }

  setQuota(keyId: number, quotaLeft: number): void {
    const key = this.#keys.get(keyId);
    if (key !== undefined) key.quotaInDatabase = quotaLeft;
  }
}
