/** The table of video tasks. */
import { type Kysely, type Migration, sql } from 'kysely';

export const createTasks: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable('tasks')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('request_id', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'integer', (column) => column.notNull())
      .addColumn('key_id', 'integer', (column) => column.notNull())
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('group_name', 'text', (column) => column.notNull())
      .addColumn('multiplier', 'text', (column) => column.notNull())
      .addColumn('price', 'text', (column) => column.notNull())
      .addColumn('held', 'bigint')
      .addColumn('prompt', 'text', (column) => column.notNull())
      .addColumn('seconds', 'real', (column) => column.notNull())
      .addColumn('size', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('deadline_at', 'bigint', (column) => column.notNull())
      .addColumn('place', 'text')
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('progress', 'integer', (column) => column.notNull())
      .addColumn('storage', 'text', (column) => column.notNull())
      .addColumn('ending', 'text')
      .addColumn('error_code', 'text')
      .addColumn('error_message', 'text')
      .addColumn('file', 'text')
      .addColumn('used_seconds', 'real')
      .addColumn('used_measured', 'integer', (column) => column.notNull())
      .addColumn('object_key', 'text')
      .addColumn('bytes', 'bigint')
      .addColumn('sha256', 'text')
      .addColumn('content_type', 'text')
      .addColumn('completed_at', 'bigint')
      .addColumn('open', 'integer', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('missing_since', 'bigint')
      .addColumn('lease_owner', 'text')
      .addColumn('lease_until', 'bigint', (column) => column.notNull())
      .execute();
    await schema.createIndex('tasks_key').on('tasks').columns(['key_id', 'created_at', 'id']).execute();
    // Settled tasks are many and never due; only the open ones are in it.
    await sql`CREATE INDEX tasks_due ON tasks (due_at) WHERE open = 1`.execute(database);
  },
};

/** How many are open is asked for each key, and what has ended is looked for by its age. */
export const indexTasks: Migration = {
  async up(database: Kysely<unknown>) {
    await sql`CREATE INDEX tasks_open ON tasks (key_id) WHERE open = 1`.execute(database);
    await sql`CREATE INDEX tasks_over ON tasks (completed_at) WHERE open = 0`.execute(database);
  },
};
