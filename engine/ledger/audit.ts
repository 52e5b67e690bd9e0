/** Proves the sums: balance = credits − usage for every account, quota left = quota − usage for every key. */
import { type Kysely, sql } from 'kysely';
import type { Audit, AuditedAccount } from './accounts-contract.ts';
import { readPresentSegments } from './segments.ts';
import type { LedgerDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** One transaction sees one state; what no gateway has applied yet is in none of the sums but `pending`. */
export function auditLedger(database: LedgerDatabase, journal: string): Promise<Audit> {
  return reading(database, async (connection) => {
    const credits = await sumCredits(connection);
    const usage = await sumUsage(connection, 'user_id');
    const users = await connection.selectFrom('users').select(['id', 'name', 'balance']).orderBy('id').execute();
    const accounts = users.map((user) => auditAccount(user, credits.get(user.id) ?? 0, usage.get(user.id) ?? 0));
    const known = new Set(users.map((user) => user.id));
    const faults = [
      ...accounts.filter((account) => account.difference !== 0).map(sentenceOf),
      ...[...usage]
        .filter(([id, sum]) => sum !== 0 && !known.has(id))
        .map(([id, sum]) => `${sum} units were used by user ${id}, who does not exist.`),
      ...(await auditKeys(connection)),
    ];
    return { ok: faults.length === 0, accounts, faults, pending: await sumPending(connection, journal) };
  });
}

/** Many readings of one state, without holding up writers. */
function reading<T>(database: LedgerDatabase, read: (connection: Kysely<Tables>) => Promise<T>): Promise<T> {
  return database.query.connection().execute(async (connection) => {
    await sql`BEGIN DEFERRED`.execute(connection);
    try {
      return await read(connection);
    } finally {
      await sql`COMMIT`.execute(connection);
    }
  });
}

function auditAccount(
  user: { id: number; name: string; balance: number },
  credits: number,
  usage: number,
): AuditedAccount {
  const { id, name, balance } = user;
  return { userId: id, name, balance, credits, usage, difference: balance - (credits - usage) };
}

function sentenceOf(account: AuditedAccount): string {
  const { userId, name, balance, credits, usage, difference } = account;
  return `User ${userId} (${name}) has ${balance} units; credits ${credits} less usage ${usage} make ${credits - usage}, a difference of ${difference}.`;
}

async function sumCredits(connection: Kysely<Tables>): Promise<Map<number, number>> {
  const rows = await connection
    .selectFrom('credits')
    .select((select) => ['user_id as id', select.fn.sum<number>('amount').as('sum')])
    .groupBy('user_id')
    .execute();
  return new Map(rows.map((row) => [row.id, Number(row.sum)]));
}

async function sumUsage(connection: Kysely<Tables>, by: 'user_id' | 'key_id'): Promise<Map<number, number>> {
  const rows = await connection
    .selectFrom('charges')
    .select((select) => [`${by} as id`, select.fn.sum<number>('quota').as('sum')])
    .groupBy(by)
    .execute();
  return new Map(rows.map((row) => [row.id, Number(row.sum)]));
}

async function auditKeys(connection: Kysely<Tables>): Promise<string[]> {
  const usage = await sumUsage(connection, 'key_id');
  const keys = await connection
    .selectFrom('keys')
    .select(['id', 'prefix', 'quota', 'quota_left'])
    .where('quota', 'is not', null)
    .execute();
  return keys
    .map((key) => ({ ...key, used: usage.get(key.id) ?? 0 }))
    .filter((key) => key.quota_left !== key.quota! - key.used)
    .map(
      (key) => `Key ${key.id} (${key.prefix}) has ${key.quota_left} units left of ${key.quota}, but used ${key.used}.`,
    );
}

async function sumPending(connection: Kysely<Tables>, journal: string): Promise<Audit['pending']> {
  const pending = new Map<string, number>();
  for await (const charges of readPresentSegments(journal)) {
    const ids = JSON.stringify(charges.map((charge) => charge.requestId));
    const known = await sql<{ id: string }>`
      SELECT request_id AS id FROM charges WHERE request_id IN (SELECT value FROM json_each(${ids}))`.execute(
      connection,
    );
    const applied = new Set(known.rows.map((row) => row.id));
    for (const { requestId, quota } of charges) if (!applied.has(requestId)) pending.set(requestId, quota);
  }
  return { requests: pending.size, quota: [...pending.values()].reduce((sum, quota) => sum + quota, 0) };
}
