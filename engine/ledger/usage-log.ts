/** Reads the usage log, newest first, page by page. */
import type { UsageRow } from '../contract/usage.ts';
import { AccountsFault, maximumUsageRows, type UsageFilter } from './accounts-contract.ts';
import type { LedgerDatabase } from './sqlite.ts';
import { usageRowOf } from './usage-columns.ts';

export async function readUsage(database: LedgerDatabase, filter: UsageFilter): Promise<UsageRow[]> {
  if (!Number.isInteger(filter.limit) || filter.limit < 1 || filter.limit > maximumUsageRows) {
    throw new AccountsFault(`The limit is a whole number from 1 to ${maximumUsageRows}.`);
  }
  const last = filter.before === undefined ? null : await positionOf(database, filter.before);
  const rows = await database.query
    .selectFrom('usage')
    .selectAll()
    .$if(filter.userId !== undefined, (query) => query.where('user_id', '=', filter.userId!))
    .$if(filter.keyId !== undefined, (query) => query.where('key_id', '=', filter.keyId!))
    .$if(filter.model !== undefined, (query) => query.where('model', '=', filter.model!))
    .$if(filter.from !== undefined, (query) => query.where('time', '>=', filter.from!))
    .$if(filter.to !== undefined, (query) => query.where('time', '<', filter.to!))
    .$if(last !== null, (query) =>
      // The first condition says no more than the second, but an index serves it.
      query
        .where('time', '<=', last!.time)
        .where((where) =>
          where.or([
            where('time', '<', last!.time),
            where.and([where('time', '=', last!.time), where('request_id', '<', last!.request_id)]),
          ]),
        ),
    )
    .orderBy('time', 'desc')
    .orderBy('request_id', 'desc')
    .limit(filter.limit)
    .execute();
  return rows.map(usageRowOf);
}

async function positionOf(database: LedgerDatabase, requestId: string): Promise<{ time: number; request_id: string }> {
  const row = await database.query
    .selectFrom('usage')
    .select(['time', 'request_id'])
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  if (row === undefined) throw new AccountsFault(`The usage log has no request ${requestId}.`);
  return row;
}
