/** The task store on the ledger's database. */
import type { Selectable } from 'kysely';
import { patiently, write } from '../ledger/serial.ts';
import type { LedgerDatabase } from '../ledger/sqlite.ts';
import type { TasksTable } from '../ledger/tables.ts';
import { changedColumns, columnsOf, taskOf } from './columns.ts';
import type { TaskPageFilter, TaskStore, VideoTask } from './task.ts';

/** Above this no page goes, whatever is asked. */
const longestPage = 100;

export function createTaskStore(database: LedgerDatabase): TaskStore {
  const { query } = database;

  const visibleTo = (keyId: number) =>
    query.selectFrom('tasks').selectAll().where('key_id', '=', keyId).where('place', 'is not', null);

  const due = (now: number) =>
    query.selectFrom('tasks').where('open', '=', 1).where('due_at', '<=', now).orderBy('due_at');

  const over = (endedBefore: number) =>
    query.selectFrom('tasks').where('open', '=', 0).where('completed_at', '<', endedBefore).orderBy('completed_at');

  /** Takes leases on those that are nobody's. */
  async function lease(tasks: ReturnType<typeof due>, owner: string, now: number, until: number, limit: number) {
    const free = tasks.select('id').where('lease_until', '<=', now);
    // An idle gateway does not lock the database to find nothing.
    if ((await free.limit(1).executeTakeFirst()) === undefined) return [];
    const rows = await write(database, (transaction) =>
      transaction
        .updateTable('tasks')
        .set({ lease_owner: owner, lease_until: until })
        .where('id', 'in', free.limit(limit))
        // Said again for databases that read the list before they lock the rows.
        .where('lease_until', '<=', now)
        .returningAll()
        .execute(),
    );
    return rows.map(taskOf);
  }

  return {
    async insert(origin, owner, until, most) {
      const values = { ...columnsOf(origin), lease_owner: owner, lease_until: until };
      return write(database, async (transaction) => {
        const { open } = await transaction
          .selectFrom('tasks')
          .select((select) => select.fn.countAll<number>().as('open'))
          .where('key_id', '=', origin.keyId)
          .where('open', '=', 1)
          .executeTakeFirstOrThrow();
        if (open >= most) return false;
        await transaction.insertInto('tasks').values(values).execute();
        return true;
      });
    },

    async discard(id, owner) {
      await write(database, (transaction) =>
        transaction.deleteFrom('tasks').where('id', '=', id).where('lease_owner', '=', owner).execute(),
      );
    },

    take: (owner, now, until, limit) => lease(due(now), owner, now, until, limit),

    takeEnded: (owner, endedBefore, now, until, limit) => lease(over(endedBefore), owner, now, until, limit),

    async save(id, owner, changes, release) {
      const values = { ...changedColumns(changes), ...(release ? { lease_owner: null, lease_until: 0 } : {}) };
      const result = await write(database, (transaction) =>
        transaction
          .updateTable('tasks')
          .set(values)
          .where('id', '=', id)
          .where('lease_owner', '=', owner)
          .executeTakeFirstOrThrow(),
      );
      return result.numUpdatedRows > 0n;
    },

    async renew(owner, ids, until) {
      await write(database, (transaction) =>
        transaction
          .updateTable('tasks')
          .set({ lease_until: until })
          .where('lease_owner', '=', owner)
          .where('id', 'in', [...ids])
          .execute(),
      );
    },

    async releaseAll(owner) {
      await write(database, (transaction) =>
        transaction
          .updateTable('tasks')
          .set({ lease_owner: null, lease_until: 0 })
          .where('lease_owner', '=', owner)
          .execute(),
      );
    },

    async find(id, keyId) {
      const row = await patiently(() => visibleTo(keyId).where('id', '=', id).executeTakeFirst());
      return row === undefined ? null : taskOf(row);
    },

    page: (filter) => patiently(() => readPage(filter)),

    async remove(id) {
      const result = await write(database, (transaction) =>
        transaction.deleteFrom('tasks').where('id', '=', id).where('open', '=', 0).executeTakeFirstOrThrow(),
      );
      return result.numDeletedRows > 0n;
    },

    async open() {
      const rows = await query
        .selectFrom('tasks')
        .select(['id', 'user_id', 'key_id', 'held'])
        .where('open', '=', 1)
        .execute();
      return rows.map(({ id, user_id, key_id, held }) => ({ id, userId: user_id, keyId: key_id, held }));
    },
  };

  async function readPage(filter: TaskPageFilter) {
    const { keyId, after, order } = filter;
    const limit = Math.min(filter.limit, longestPage);
    const last = after === null ? null : await visibleTo(keyId).where('id', '=', after).executeTakeFirst();
    if (last === undefined) return null;
    const rows = await visibleTo(keyId)
      .$if(last !== null, (rest) => {
        const { created_at: time, id } = last as Selectable<TasksTable>;
        const beyond = order === 'asc' ? '>' : '<';
        return rest.where((where) =>
          where.or([
            where('created_at', beyond, time),
            where.and([where('created_at', '=', time), where('id', beyond, id)]),
          ]),
        );
      })
      .orderBy('created_at', order)
      .orderBy('id', order)
      .limit(limit + 1)
      .execute();
    const tasks: VideoTask[] = rows.slice(0, limit).map(taskOf);
    return { tasks, hasMore: rows.length > limit };
  }
}
