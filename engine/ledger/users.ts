/** Users and their credits. */
import { AccountsFault, type User } from './accounts-contract.ts';
import { patiently } from './serial.ts';
import type { LedgerDatabase } from './sqlite.ts';
import type { UsersTable } from './tables.ts';

/** 2 × 10^9 USD: sums of such amounts stay far within what a number holds exactly. */
const maximumAmount = 1e15;

type UserRow = Omit<UsersTable, 'id' | 'password_hash'> & { id: number };
const columns = ['id', 'name', 'email', 'balance', 'disabled', 'created_at'] as const;

const userOf = (row: UserRow): User => ({
  id: row.id,
  name: row.name,
  email: row.email,
  balance: row.balance,
  disabled: row.disabled !== 0,
  createdAt: row.created_at,
});

export async function createUser(
  database: LedgerDatabase,
  user: { readonly name: string; readonly email?: string | null },
  now: number,
): Promise<User> {
  const name = user.name.trim();
  if (name === '' || name.length > 200) throw new AccountsFault('A user name has 1 to 200 characters.');
  if (/^\d+$/.test(name)) throw new AccountsFault('A user name must not be a number: users are found by number too.');
  const row = await patiently(() =>
    database.query
      .insertInto('users')
      .values({ name, email: user.email ?? null, password_hash: null, balance: 0, disabled: 0, created_at: now })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returning(columns)
      .executeTakeFirst(),
  );
  if (row === undefined) throw new AccountsFault(`There is a user named ${name} already.`);
  return userOf(row);
}

export async function listUsers(database: LedgerDatabase): Promise<User[]> {
  const rows = await database.query.selectFrom('users').select(columns).orderBy('id').execute();
  return rows.map(userOf);
}

export async function findUser(database: LedgerDatabase, nameOrId: string | number): Promise<User | null> {
  const byId = typeof nameOrId === 'number' || /^\d+$/.test(nameOrId);
  const row = await database.query
    .selectFrom('users')
    .select(columns)
    .where((where) => (byId ? where('id', '=', Number(nameOrId)) : where('name', '=', String(nameOrId))))
    .executeTakeFirst();
  return row === undefined ? null : userOf(row);
}

export async function disableUser(database: LedgerDatabase, userId: number, disabled: boolean): Promise<User> {
  const row = await patiently(() =>
    database.query
      .updateTable('users')
      .set({ disabled: disabled ? 1 : 0 })
      .where('id', '=', userId)
      .returning(columns)
      .executeTakeFirst(),
  );
  if (row === undefined) throw unknownUser(userId);
  return userOf(row);
}

export interface Credit {
  readonly userId: number;
  readonly amount: number;
  readonly reason: string;
  readonly reference: string | null;
}

/** The balance first, so that the transaction begins with a write and waits for other writers instead of failing. */
export async function bookCredit(
  database: LedgerDatabase,
  credit: Credit,
  now: number,
): Promise<{ balance: number; booked: boolean }> {
  if (!Number.isSafeInteger(credit.amount) || credit.amount === 0 || Math.abs(credit.amount) > maximumAmount) {
    throw new AccountsFault(`A credit is a whole number of quota units from -1e15 to 1e15, and not 0.`);
  }
  return patiently(() =>
    database.query.transaction().execute(async (transaction) => {
      const user = await transaction
        .updateTable('users')
        .set((set) => ({ balance: set('balance', '+', credit.amount) }))
        .where('id', '=', credit.userId)
        .returning('balance')
        .executeTakeFirst();
      if (user === undefined) throw unknownUser(credit.userId);
      const { reason, reference, amount, userId } = credit;
      const booked = await transaction
        .insertInto('credits')
        .values({ user_id: userId, amount, reason, reference, created_at: now })
        .onConflict((conflict) => conflict.column('reference').doNothing())
        .returning('id')
        .executeTakeFirst();
      if (booked !== undefined) return { balance: user.balance, booked: true };
      await transaction
        .updateTable('users')
        .set((set) => ({ balance: set('balance', '-', amount) }))
        .where('id', '=', userId)
        .execute();
      const earlier = await transaction
        .selectFrom('credits')
        .select(['user_id', 'amount'])
        .where('reference', '=', reference)
        .executeTakeFirstOrThrow();
      if (earlier.user_id !== userId || earlier.amount !== amount) {
        throw new AccountsFault(`The reference ${reference} was used for another credit.`);
      }
      return { balance: user.balance - amount, booked: false };
    }),
  );
}

export const unknownUser = (userId: number) => new AccountsFault(`There is no user ${userId}.`);
