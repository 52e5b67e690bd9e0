/** Migration 0003: responses that later requests may name, and where each of their items is found. */
import type { Kysely } from 'kysely';

export async function createResponses(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable('responses')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('user_id', 'integer', (column) => column.notNull())
    .addColumn('channel', 'text')
    .addColumn('credential', 'text')
    .addColumn('named', 'integer', (column) => column.notNull())
    .addColumn('previous_id', 'text')
    .addColumn('input', 'text')
    .addColumn('response', 'text')
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('responses_expires').on('responses').column('expires_at').execute();
  await schema
    .createTable('response_marks')
    .addColumn('mark', 'text', (column) => column.primaryKey().notNull())
    .addColumn('response_id', 'text', (column) => column.notNull().references('responses.id').onDelete('cascade'))
    .execute();
  await schema.createIndex('response_marks_response').on('response_marks').column('response_id').execute();
}
