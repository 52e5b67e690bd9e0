/** The schema's history. Names sort in the order in which they run; one that was released is never changed. */
import { type CreateTableBuilder, type Kysely, type Migration, Migrator, sql } from 'kysely';

const first: Migration = {
  async up(database: Kysely<unknown>) {
    await createUsers(database);
    await createKeys(database);
    await createCredits(database);
    await createUsage(database);
    await createReplays(database);
  },
};

const migrations: Record<string, Migration> = { '0001-first': first };

/** Brings the schema up to date. The caller holds the write lock. Throws where the database is of a newer version. */
export async function migrate<Schema>(database: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
    disableTransactions: true,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(`its schema cannot be brought up to date by this version of the gateway: ${reason}`, {
    cause: error,
  });
}

async function createUsers(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('users')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text')
    .addColumn('password_hash', 'text')
    .addColumn('balance', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function createKeys(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('keys')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('group_name', 'text', (column) => column.notNull())
    .addColumn('models', 'text')
    .addColumn('quota', 'bigint')
    .addColumn('quota_left', 'bigint')
    .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('expires_at', 'bigint')
    .addColumn('limits', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('keys_user').on('keys').column('user_id').execute();
}

async function createCredits(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('credits')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id'))
    .addColumn('amount', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('credits_user').on('credits').column('user_id').execute();
}

/** Columns that nobody sums or seeks by; the number is their place in `details`. */
const usageDetails = [
  ['endpoint', 'text', 4],
  ['model', 'text', 5],
  ['group_name', 'text', 6],
  ['multiplier', 'text', 7],
  ['channel', 'text', 8],
  ['attempts', 'integer', 9],
  ['images', 'integer', 10],
  ['input_tokens', 'bigint', 11],
  ['cached_input_tokens', 'bigint', 12],
  ['cache_write_tokens', 'bigint', 13],
  ['output_tokens', 'bigint', 14],
  ['reasoning_tokens', 'bigint', 15],
  ['status', 'integer', 17],
  ['outcome', 'text', 18],
  ['code', 'text', 19],
  ['usage_source', 'text', 20],
  ['duration_ms', 'double precision', 21],
  ['first_byte_ms', 'double precision', 22],
] as const;

/**
 * Binding values is most of what a row costs, so the row is one text, which the journal has made already, and columns
 * over it that take no room: half the time of 23 columns. On PostgreSQL `details` is `jsonb` and the columns are
 * `generated always as ((details ->> 5)) stored` (cast where they are numbers), or, from version 18 on, `virtual` as here.
 *
 * No foreign keys: a row of the journal must never be refused. The audit reports rows of unknown users.
 */
async function createUsage(database: Kysely<unknown>): Promise<void> {
  const stored = database.schema
    .createTable('usage')
    .addColumn('request_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('time', 'bigint', (column) => column.notNull())
    .addColumn('user_id', 'integer', (column) => column.notNull())
    .addColumn('key_id', 'integer', (column) => column.notNull())
    .addColumn('quota', 'bigint', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull());
  let table: CreateTableBuilder<'usage', string> = stored;
  for (const [name, type, at] of usageDetails)
    table = table.addColumn(name, type, (column) => column.generatedAlwaysAs(sql`details ->> ${sql.lit(at)}`));
  await table.execute();
  await database.schema.createIndex('usage_user_time').on('usage').columns(['user_id', 'time']).execute();
  await database.schema.createIndex('usage_time').on('usage').column('time').execute();
}

async function createReplays(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('replays')
    .addColumn('scope', 'text', (column) => column.primaryKey().notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('content_type', 'text', (column) => column.notNull())
    .addColumn('file', 'text', (column) => column.notNull())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('replays_created').on('replays').column('created_at').execute();
}
