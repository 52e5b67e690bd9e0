/** Keys as they are made, listed and revoked. */
import type { LimitSettings } from '../contract/ports.ts';
import { AccountsFault, type NewKey, type StoredKey } from './accounts-contract.ts';
import { createSecret, displayPrefix, hashKey, isWellFormedKey } from './key.ts';
import { limitsOf } from './records.ts';
import { write } from './serial.ts';
import type { LedgerDatabase } from './sqlite.ts';
import type { KeysTable } from './tables.ts';
import { findUser, unknownUser } from './users.ts';

const keyOf = (row: Omit<KeysTable, 'id'> & { id: number }): StoredKey => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  prefix: row.prefix,
  group: row.group_name,
  models: row.models === null ? null : (JSON.parse(row.models) as string[]),
  quota: row.quota,
  quotaLeft: row.quota_left,
  disabled: row.disabled !== 0,
  expiresAt: row.expires_at,
  limits: limitsOf(row.limits),
  createdAt: row.created_at,
});

export async function createKey(
  database: LedgerDatabase,
  key: NewKey,
  now: number,
): Promise<{ key: StoredKey; secret: string }> {
  checkNewKey(key);
  if ((await findUser(database, key.userId)) === null) throw unknownUser(key.userId);
  const secret = createSecret();
  const row = await write(database, (transaction) =>
    transaction
      .insertInto('keys')
      .values({
        user_id: key.userId,
        name: key.name,
        hash: hashKey(secret),
        prefix: displayPrefix(secret),
        group_name: key.group,
        models: key.models == null ? null : JSON.stringify(key.models),
        quota: key.quota ?? null,
        quota_left: key.quota ?? null,
        disabled: 0,
        expires_at: key.expiresAt ?? null,
        limits: key.limits === undefined ? null : JSON.stringify(key.limits),
        created_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
  return { key: keyOf(row), secret };
}

export async function listKeys(database: LedgerDatabase, userId?: number): Promise<StoredKey[]> {
  const rows = await database.query
    .selectFrom('keys')
    .selectAll()
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId!))
    .orderBy('id')
    .execute();
  return rows.map(keyOf);
}

export async function revokeKey(database: LedgerDatabase, which: string | number): Promise<StoredKey> {
  const text = String(which);
  const [column, value] = /^\d+$/.test(text)
    ? (['id', Number(text)] as const)
    : isWellFormedKey(text)
      ? (['hash', hashKey(text)] as const)
      : (['prefix', text] as const);
  const found = await database.query.selectFrom('keys').select('id').where(column, '=', value).execute();
  if (found.length === 0)
    throw new AccountsFault('There is no such key. Give its number, its prefix or the key itself.');
  if (found.length > 1) throw new AccountsFault(`${found.length} keys have this prefix. Give the number of one.`);
  const row = await write(database, (transaction) =>
    transaction
      .updateTable('keys')
      .set({ disabled: 1 })
      .where('id', '=', found[0]!.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
  return keyOf(row);
}

const limitNames = new Set(['requestsPerMinute', 'tokensPerMinute', 'concurrency']);

function checkNewKey(key: NewKey): void {
  if (key.name.trim() === '' || key.name.length > 200) throw new AccountsFault('A key name has 1 to 200 characters.');
  if (key.group === '') throw new AccountsFault('A key needs a group.');
  if (key.models?.some((model) => model === '')) throw new AccountsFault('A model name must not be empty.');
  if (key.quota != null && !isCount(key.quota))
    throw new AccountsFault('A quota is a whole number of units, 0 or more.');
  if (key.expiresAt != null && !isCount(key.expiresAt)) throw new AccountsFault('An expiry is in ms since 1970.');
  const limits: Partial<LimitSettings> = key.limits ?? {};
  for (const [name, limit] of Object.entries(limits)) {
    if (!limitNames.has(name)) throw new AccountsFault(`There is no limit named ${name}.`);
    if (limit !== null && (!isCount(limit) || limit === 0)) {
      throw new AccountsFault(`The limit ${name} is a whole number above 0.`);
    }
  }
}

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
