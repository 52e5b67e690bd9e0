/** Running requests see a credit as soon as it is noticed: their keys are not asked for again. */
import type { Records } from './records.ts';
import type { LedgerDatabase } from './sqlite.ts';

export class CreditWatch {
  readonly #database: LedgerDatabase;
  readonly #records: Records;
  /** Number of the last credit that is in the balances in memory. */
  #last = 0;

  constructor(database: LedgerDatabase, records: Records) {
    this.#database = database;
    this.#records = records;
  }

  /** To be called before the first key is loaded. */
  async start(): Promise<void> {
    const row = await this.#database.query
      .selectFrom('credits')
      .select((select) => select.fn.max<number | null>('id').as('last'))
      .executeTakeFirstOrThrow();
    this.#last = row.last ?? 0;
  }

  /** To be called where no batch is being applied. */
  async read(): Promise<void> {
    const rows = await this.#database.query
      .selectFrom('credits')
      .innerJoin('users', 'users.id', 'credits.user_id')
      .select(['credits.id as credit', 'users.id', 'users.balance'])
      .where('credits.id', '>', this.#last)
      .orderBy('credits.id')
      .execute();
    for (const { credit, id, balance } of rows) {
      this.#records.setBalance(id, balance);
      this.#last = credit;
    }
  }
}
