/** `gateway users create|list|credit|disable|enable` */
import type { Command } from 'commander';
import type { User } from '../ledger/index.ts';
import { type AccountsOptions, requireUser, withAccounts } from './accounts.ts';
import { formatAmount, formatUsd, parseUnits, parseUsd } from './amount.ts';
import { type JsonOption, withConfig, withData, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { formatTime, print, printJson } from './print.ts';
import { type Column, renderTable } from './table.ts';

type Options = AccountsOptions & JsonOption;

interface CreateOptions extends Options {
  readonly email?: string;
}

interface CreditOptions extends Options {
  readonly units?: number;
  readonly reason: string;
  readonly reference?: string;
}

const columns: readonly Column<User>[] = [
  { title: 'ID', right: true, cell: (user) => user.id },
  { title: 'NAME', cell: (user) => user.name },
  { title: 'EMAIL', cell: (user) => user.email },
  { title: 'BALANCE USD', right: true, cell: (user) => formatUsd(user.balance) },
  { title: 'UNITS', right: true, cell: (user) => user.balance },
  { title: 'STATE', cell: (user) => (user.disabled ? 'disabled' : 'active') },
  { title: 'CREATED (UTC)', cell: (user) => formatTime(user.createdAt) },
];

const withUsd = (user: User) => ({ ...user, balanceUsd: formatUsd(user.balance) });

async function create(name: string, options: CreateOptions, parts: Parts): Promise<void> {
  const given = options.email === undefined ? { name } : { name, email: options.email };
  const user = await withAccounts(options, parts, (accounts) => accounts.createUser(given), true);
  if (options.json) printJson(withUsd(user));
  else print(`User ${user.id}: ${user.name}. Balance: ${formatAmount(user.balance)}.`);
}

async function list(options: Options, parts: Parts): Promise<void> {
  const users = await withAccounts(options, parts, (accounts) => accounts.listUsers());
  if (options.json) printJson(users.map(withUsd));
  else print(renderTable(columns, users));
}

async function disable(nameOrId: string, disabled: boolean, options: Options, parts: Parts): Promise<void> {
  const user = await withAccounts(options, parts, async (accounts) => {
    const { id } = await requireUser(accounts, nameOrId);
    return accounts.disableUser(id, disabled);
  });
  if (options.json) return printJson(withUsd(user));
  print(
    disabled
      ? `${user.name} is disabled: every key of this user gets 401 account_disabled from now on. The balance stays.`
      : `${user.name} is active: the keys that were not revoked work again.`,
  );
}

async function credit(
  nameOrId: string,
  usd: number | undefined,
  options: CreditOptions,
  command: Command,
  parts: Parts,
) {
  const amount = usd ?? options.units;
  if (amount === undefined || (usd !== undefined && options.units !== undefined))
    command.error("error: give the amount in USD, or with --units, not both: 'gateway users credit alice 5.00'");
  const { reason, reference } = options;
  const { user, booked } = await withAccounts(options, parts, async (accounts) => {
    const { id } = await requireUser(accounts, nameOrId);
    const { booked } = await accounts.credit(id, amount, reason, reference);
    return { user: await requireUser(accounts, String(id)), booked };
  });
  if (options.json) return printJson({ user: withUsd(user), amount, amountUsd: formatUsd(amount), booked });
  if (!booked) print(`The reference ${reference} was booked before: nothing changed.`);
  print(`${user.name} has ${formatAmount(user.balance)} now.`);
}

const complete = (command: Command) => withJson(withData(withConfig(command)));

export function addUsers(program: Command, parts: Parts): void {
  const users = withExamples(
    program.command('users').description('Users and their balances.'),
    'gateway users create alice',
    'gateway users credit alice 5.00',
    'gateway users list',
  );
  withExamples(
    complete(users.command('create <name>').description('Make a user with an empty balance.')).option(
      '--email <address>',
      'where the user is reached',
    ),
    'gateway users create alice --email alice@example.com',
  ).action((name: string, options: CreateOptions) => create(name, options, parts));
  withExamples(complete(users.command('list').description('All users.')), 'gateway users list --json').action(
    (options: Options) => list(options, parts),
  );
  withExamples(
    complete(users.command('credit').description('Add to a balance; a running gateway sees it at once.'))
      .argument('<user>', 'name or number')
      .argument('[usd]', 'amount in USD', parseUsd)
      .option('--units <units>', 'amount in quota units (500000 are 1 USD)', parseUnits)
      .option('--reason <text>', 'kept with the credit', 'top-up')
      .option('--reference <text>', 'a second credit with the same reference is not booked'),
    'gateway users credit alice 5.00 --reference invoice-17',
    'gateway users credit alice --units 2500000',
    'gateway users credit -- alice -1.50',
  ).action((nameOrId: string, usd: number | undefined, options: CreditOptions, command: Command) =>
    credit(nameOrId, usd, options, command, parts),
  );
  addSwitches(users, parts);
}

function addSwitches(users: Command, parts: Parts): void {
  const addSwitch = (name: string, description: string, disabled: boolean) =>
    withExamples(
      complete(users.command(name).description(description)).argument('<user>', 'name or number'),
      `gateway users ${name} alice`,
    ).action((nameOrId: string, options: Options) => disable(nameOrId, disabled, options, parts));
  addSwitch('disable', 'Refuse all keys of a user; a running gateway sees it at once.', true);
  addSwitch('enable', 'Take a user up again.', false);
}
