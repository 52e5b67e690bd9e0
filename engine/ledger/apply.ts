/** Writes usage rows and what they cost in one transaction, each request id once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import type { LedgerDatabase } from './sqlite.ts';
import type { ChargesTable, Tables } from './tables.ts';
import type { Charge } from './usage-columns.ts';

/** The balances and key quotas that a batch has changed, as the database has them now. */
export interface Applied {
  readonly balances: readonly { readonly id: number; readonly balance: number }[];
  readonly quotas: readonly { readonly id: number; readonly quota_left: number }[];
}

export type Apply = (batch: readonly Charge[]) => Promise<Applied>;

/** Rows per statement. 32 block the event loop for 0.1 ms; between two statements others have their turn. */
const sliceSizes = [32, 16, 8, 4, 2, 1];

const chargesPerStatement = 128;

/** Raised inside a transaction to take it back. */
class KnownRows extends Error {}

/**
 * Compiles the statements once and answers the function that applies a batch. `mayHaveQuota` says whether a key may have
 * a quota of its own; the others need no update.
 */
export function createApply(database: LedgerDatabase, mayHaveQuota: (keyId: number) => boolean): Apply {
  const { query } = database;
  const inserts = new Map(sliceSizes.map((size) => [size, compileInsert(query, size)]));

  const insert = async (transaction: Transaction<Tables>, batch: readonly Charge[]) => {
    for (let from = 0; from < batch.length; ) {
      const size = sliceSizes.find((each) => each <= batch.length - from)!;
      const parameters = parametersOf(batch, from, from + size);
      const result = await transaction.executeQuery({ ...inserts.get(size)!, parameters });
      if (Number(result.numAffectedRows) !== size) throw new KnownRows();
      from += size;
      if (from < batch.length) await nextTurn();
    }
  };

  const write = (batch: readonly Charge[]): Promise<Applied> =>
    query.transaction().execute(async (transaction) => {
      await insert(transaction, batch);
      const owed = sumsOf(batch, mayHaveQuota);
      return {
        balances: await charge(transaction, chargeAccounts, [...owed.byUser]),
        quotas: await charge(transaction, chargeKeys, [...owed.byKey]),
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
  const row: ChargesTable = { request_id: '', time: 0, user_id: 0, key_id: 0, quota: 0, details: '' };
  return query
    .insertInto('charges')
    .values(new Array<ChargesTable>(size).fill(row))
    .onConflict((conflict) => conflict.column('request_id').doNothing())
    .compile();
}

/** In the order of the columns above. */
function parametersOf(batch: readonly Charge[], from: number, to: number): (string | number)[] {
  const parameters: (string | number)[] = [];
  for (let index = from; index < to; index++) {
    const { requestId, time, userId, keyId, quota, details } = batch[index]!;
    parameters.push(requestId, time, userId, keyId, quota, details);
  }
  return parameters;
}

/** The batch without the rows that the database has already, and without repetitions of its own. */
async function unknownOf(query: Kysely<Tables>, batch: readonly Charge[]): Promise<Charge[]> {
  const byId = new Map(batch.toReversed().map((charge) => [charge.requestId, charge]));
  const known = await query
    .selectFrom('charges')
    .select('request_id')
    .where('request_id', 'in', [...byId.keys()])
    .execute();
  for (const { request_id } of known) byId.delete(request_id);
  return [...byId.values()].reverse();
}

type Owed = readonly [id: number, amount: number];

/** What is owed per user and per key; what costs nothing is left out. */
function sumsOf(batch: readonly Charge[], mayHaveQuota: (keyId: number) => boolean) {
  const byUser = new Map<number, number>();
  const byKey = new Map<number, number>();
  for (const { userId, keyId, quota } of batch) {
    if (quota === 0) continue;
    byUser.set(userId, (byUser.get(userId) ?? 0) + quota);
    if (mayHaveQuota(keyId)) byKey.set(keyId, (byKey.get(keyId) ?? 0) + quota);
  }
  return { byUser, byKey };
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
