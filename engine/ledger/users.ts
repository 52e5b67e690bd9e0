/** Users and their credits. */
import type { Transaction } from 'kysely';
import { AccountsFault, type User } from './accounts-contract.ts';
import { write } from './serial.ts';
import type { LedgerDatabase } from './sqlite.ts';
import type { Tables, UsersTable } from './tables.ts';

/** 2 × 10^9 USD in one credit; a balance stays within what a number holds exactly, nine times as much. */
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
  const row = await write(database, (transaction) =>
    transaction
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
  const row = await write(database, (transaction) =>
    transaction
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

/** Books the credit, or finds that its reference is booked already. */
export async function bookCredit(
  database: LedgerDatabase,
  credit: Credit,
  now: number,
): Promise<{ balance: number; booked: boolean }> {
  if (!Number.isSafeInteger(credit.amount) || credit.amount === 0 || Math.abs(credit.amount) > maximumAmount) {
    throw new AccountsFault('A credit is a whole number of quota units from -1e15 to 1e15, and not 0.');
  }
  return write(database, async (transaction) => {
    const booked = !(await isBooked(transaction, credit));
    const { userId, amount, reason, reference } = credit;
    const user = await transaction
      .updateTable('users')
      .set((set) => ({ balance: set('balance', '+', booked ? amount : 0) }))
      .where('id', '=', userId)
      .returning('balance')
      .executeTakeFirst();
    if (user === undefined) throw unknownUser(userId);
    if (!Number.isSafeInteger(Number(user.balance)))
      throw new AccountsFault('The balance would be larger than can be counted exactly.');
    if (booked) {
      const row = { user_id: userId, amount, reason, reference, created_at: now };
      await transaction.insertInto('credits').values(row).execute();
    }
    return { balance: user.balance, booked };
  });
}

async function isBooked(transaction: Transaction<Tables>, credit: Credit): Promise<boolean> {
  if (credit.reference === null) return false;
  const earlier = await transaction
    .selectFrom('credits')
    .select(['user_id', 'amount'])
    .where('reference', '=', credit.reference)
    .executeTakeFirst();
  if (earlier === undefined) return false;
  if (earlier.user_id === credit.userId && earlier.amount === credit.amount) return true;
  throw new AccountsFault(`The reference ${credit.reference} was used for another credit.`);
}

export const unknownUser = (userId: number) => new AccountsFault(`There is no user ${userId}.`);
