/** Proves the sums: balance = credits − usage for every account, quota left = quota − usage for every key. */
import type { Transaction } from 'kysely';
import type { Audit, AuditedAccount } from './accounts-contract.ts';
import type { LedgerDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** One transaction sees one state; what a running gateway has not applied yet is in none of the sums. */
export function auditLedger(database: LedgerDatabase): Promise<Audit> {
  return database.query.transaction().execute(async (transaction) => {
    const credits = await sumCredits(transaction);
    const usage = await sumUsage(transaction, 'user_id');
    const users = await transaction.selectFrom('users').select(['id', 'name', 'balance']).orderBy('id').execute();
    const accounts = users.map((user) => auditAccount(user, credits.get(user.id) ?? 0, usage.get(user.id) ?? 0));
    const known = new Set(users.map((user) => user.id));
    const faults = [
      ...accounts.filter((account) => account.difference !== 0).map(sentenceOf),
      ...[...usage]
        .filter(([id, sum]) => sum !== 0 && !known.has(id))
        .map(([id, sum]) => `${sum} units were used by user ${id}, who does not exist.`),
      ...(await auditKeys(transaction)),
    ];
    return { ok: faults.length === 0, accounts, faults };
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

async function sumCredits(transaction: Transaction<Tables>): Promise<Map<number, number>> {
  const rows = await transaction
    .selectFrom('credits')
    .select((select) => ['user_id as id', select.fn.sum<number>('amount').as('sum')])
    .groupBy('user_id')
    .execute();
  return new Map(rows.map((row) => [row.id, Number(row.sum)]));
}

async function sumUsage(transaction: Transaction<Tables>, by: 'user_id' | 'key_id'): Promise<Map<number, number>> {
  const rows = await transaction
    .selectFrom('usage')
    .select((select) => [`${by} as id`, select.fn.sum<number>('quota').as('sum')])
    .groupBy(by)
    .execute();
  return new Map(rows.map((row) => [row.id, Number(row.sum)]));
}

async function auditKeys(transaction: Transaction<Tables>): Promise<string[]> {
  const usage = await sumUsage(transaction, 'key_id');
  const keys = await transaction
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
