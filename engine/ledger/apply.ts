/** Writes usage rows and what they cost in one transaction, each request id once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import type { LedgerDatabase } from './sqlite.ts';
import type { Tables, UsageTable } from './tables.ts';
import { type UsageValue, usageColumns } from './usage-columns.ts';

export type Values = readonly UsageValue[];

/** The balances and key quotas that a batch has changed, as the database has them now. */
export interface Applied {
  readonly balances: readonly { readonly id: number; readonly balance: number }[];
  readonly quotas: readonly { readonly id: number; readonly quota_left: number }[];
}

/** Rows per statement. 32 block the event loop for 0.25 ms; between two statements others have their turn. */
const sliceSizes = [32, 16, 8, 4, 2, 1];

const chargesPerStatement = 128;

const requestIdAt = usageColumns.indexOf('request_id');
const userIdAt = usageColumns.indexOf('user_id');
const keyIdAt = usageColumns.indexOf('key_id');
const quotaAt = usageColumns.indexOf('quota');

/** Raised inside a transaction to take it back. */
class KnownRows extends Error {}

/**
 * Compiles the statements once and answers the function that applies a batch. `mayHaveQuota` says whether a key may have
 * a quota of its own; the others need no update.
 */
export function createApply(
  database: LedgerDatabase,
  mayHaveQuota: (keyId: number) => boolean,
): (batch: readonly Values[]) => Promise<Applied> {
  const { query } = database;
  const inserts = new Map(sliceSizes.map((size) => [size, compileInsert(query, size)]));

  const insert = async (transaction: Transaction<Tables>, batch: readonly Values[]) => {
    for (let from = 0; from < batch.length; ) {
      const size = sliceSizes.find((each) => each <= batch.length - from)!;
      const parameters = batch.slice(from, from + size).flat();
      const result = await transaction.executeQuery({ ...inserts.get(size)!, parameters });
      if (result.numAffectedRows !== BigInt(size)) throw new KnownRows();
      from += size;
      if (from < batch.length) await nextTurn();
    }
  };

  const write = (batch: readonly Values[]): Promise<Applied> =>
    query.transaction().execute(async (transaction) => {
      await insert(transaction, batch);
      return {
        balances: await charge(transaction, chargeAccounts, sums(batch, userIdAt)),
        quotas: await charge(
          transaction,
          chargeKeys,
          sums(batch, keyIdAt).filter(([keyId]) => mayHaveQuota(keyId)),
        ),
      };
    });

  return async (batch) => {
    try {
      return await write(batch);
    } catch (error) {
      if (!(error instanceof KnownRows)) throw error;
      return write(await unknownOf(query, batch));
    }
  };
}

function compileInsert(query: Kysely<Tables>, size: number): CompiledQuery {
  const row = Object.fromEntries(usageColumns.map((column) => [column, 0])) as unknown as UsageTable;
  return query
    .insertInto('usage')
    .values(new Array<UsageTable>(size).fill(row))
    .onConflict((conflict) => conflict.column('request_id').doNothing())
    .compile();
}

/** The batch without the rows that the database has already, and without repetitions of its own. */
async function unknownOf(query: Kysely<Tables>, batch: readonly Values[]): Promise<Values[]> {
  const byId = new Map(batch.toReversed().map((values) => [String(values[requestIdAt]), values]));
  const known = await query
    .selectFrom('usage')
    .select('request_id')
    .where('request_id', 'in', [...byId.keys()])
    .execute();
  for (const { request_id } of known) byId.delete(request_id);
  return [...byId.values()].reverse();
}

type Owed = readonly [id: number, amount: number];

/** What is owed per number; what costs nothing is left out. */
function sums(batch: readonly Values[], at: number): Owed[] {
  const owed = new Map<number, number>();
  for (const values of batch) {
    const quota = Number(values[quotaAt]);
    if (quota > 0) owed.set(Number(values[at]), (owed.get(Number(values[at])) ?? 0) + quota);
  }
  return [...owed];
}

const owed = 'SELECT value ->> 0 AS id, value ->> 1 AS amount FROM json_each(?)';
const chargeAccounts = `UPDATE users SET balance = balance - owed.amount FROM (${owed}) AS owed
  WHERE users.id = owed.id RETURNING users.id AS id, users.balance AS balance`;
const chargeKeys = `UPDATE keys SET quota_left = quota_left - owed.amount FROM (${owed}) AS owed
  WHERE keys.id = owed.id AND keys.quota_left IS NOT NULL RETURNING keys.id AS id, keys.quota_left AS quota_left`;

async function charge<Row>(transaction: Transaction<Tables>, text: string, owed: readonly Owed[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < owed.length; from += chargesPerStatement) {
    await nextTurn();
    const slice = JSON.stringify(owed.slice(from, from + chargesPerStatement));
    const result = await transaction.executeQuery(CompiledQuery.raw(text, [slice]));
    rows.push(...(result.rows as Row[]));
  }
  return rows;
}
