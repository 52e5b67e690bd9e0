/** The accounts of a data directory, beside a running gateway or without one. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Accounts, openAccounts, type User } from '../ledger/index.ts';
import { Refusal } from './failure.ts';
import type { ConfigOption, DataOption } from './options.ts';
import type { Parts } from './parts.ts';

export type AccountsOptions = ConfigOption & DataOption;

/** `--data`, or else what gateway.yaml says. */
export async function dataDirectoryOf({ config, data }: AccountsOptions, parts: Parts): Promise<string> {
  if (data !== undefined) return resolve(data);
  const { requireConfiguration } = await import('../configuration-error.ts');
  return (await requireConfiguration(config, await parts.builtIns())).gateway.dataDirectory;
}

/** Runs `work` on the accounts and closes them. Throws Refusal for a directory that no gateway has used, unless `create`. */
export async function withAccounts<T>(
  options: AccountsOptions,
  parts: Parts,
  work: (accounts: Accounts) => Promise<T>,
  create = false,
): Promise<T> {
  const directory = await dataDirectoryOf(options, parts);
  if (!create && !existsSync(join(directory, 'gateway.db')))
    throw new Refusal(`${directory} holds no gateway's data. Give --data, or make a user first: gateway users create.`);
  const accounts = await openAccounts(directory);
  try {
    return await work(accounts);
  } finally {
    await accounts.close();
  }
}

/** By name or number; throws Refusal. */
export async function requireUser(accounts: Accounts, nameOrId: string): Promise<User> {
  const user = await accounts.findUser(nameOrId);
  if (user === null) throw new Refusal(`There is no user ${nameOrId}. See gateway users list.`);
  return user;
}
