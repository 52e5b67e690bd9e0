/** The accounts on one database. */

import { join } from 'node:path';
import type { Accounts } from './accounts-contract.ts';
import { auditLedger } from './audit.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import type { LedgerDatabase } from './sqlite.ts';
import { readUsage } from './usage-log.ts';
import { bookCredit, createUser, disableUser, findUser, listUsers } from './users.ts';

export interface AccountsOptions {
  readonly database: LedgerDatabase;
  /** The data folder. */
  readonly folder: string;
  readonly now: () => number;
  /** Called after each change: the database's version does not show the changes of its own connection. */
  readonly onChange: () => void;
}

export function createAccounts({ database, folder, now, onChange }: AccountsOptions): Accounts {
  const changing = async <T>(change: Promise<T>): Promise<T> => {
    try {
      return await change;
    } finally {
      onChange();
    }
  };
  return {
    createUser: (user) => changing(createUser(database, user, now())),
    listUsers: () => listUsers(database),
    findUser: (nameOrId) => findUser(database, nameOrId),
    disableUser: (userId, disabled) => changing(disableUser(database, userId, disabled)),
    credit: (userId, amount, reason, reference) =>
      changing(bookCredit(database, { userId, amount, reason, reference: reference ?? null }, now())),
    createKey: (key) => changing(createKey(database, key, now())),
    listKeys: (userId) => listKeys(database, userId),
    revokeKey: (which) => changing(revokeKey(database, which)),
    usage: (filter) => readUsage(database, filter),
    audit: () => auditLedger(database, join(folder, 'journal')),
  };
}
