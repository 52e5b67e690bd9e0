/** Proves the sums: balance = credits − usage for every account, quota left = quota − usage for every key. */
import type { Transaction } from 'kysely';
import type { Audit, AuditedAccount } from './accounts-contract.ts';
import type { LedgerDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** One transaction sees one state; what a running gateway has not applied yet is in none of the sums. */
export function auditLedger(database: LedgerDatabase): Promise<Audit> {
  return database.query.transaction().execute(async (transaction) => {
    const credits = await sumByUser(transaction, 'credits', 'amount');
    const usage = await sumByUser(transaction, 'usage', 'quota');
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

async function sumByUser(
  transaction: Transaction<Tables>,
  table: 'credits' | 'usage',
  column: 'amount' | 'quota',
): Promise<Map<number, number>> {
  const rows = await transaction
    .selectFrom(table)
    .select((select) => ['user_id', select.fn.sum<number>(column).as('sum')])
    .groupBy('user_id')
    .execute();
  return new Map(rows.map((row) => [row.user_id, Number(row.sum)]));
}

async function auditKeys(transaction: Transaction<Tables>): Promise<string[]> {
  const rows = await transaction
    .selectFrom('keys')
    .leftJoin('usage', 'usage.key_id', 'keys.id')
    .select((select) => [
      'keys.id',
      'keys.prefix',
      'keys.quota as given',
      'keys.quota_left as left',
      select.fn.coalesce(select.fn.sum<number>('usage.quota'), select.lit(0)).as('used'),
    ])
    .where('keys.quota', 'is not', null)
    .groupBy('keys.id')
    .execute();
  return rows
    .filter((row) => Number(row.left) !== Number(row.given) - Number(row.used))
    .map((row) => `Key ${row.id} (${row.prefix}) has ${row.left} units left of ${row.given}, but used ${row.used}.`);
}
