/** `gateway keys create|list|revoke` */
import { type Command, InvalidArgumentError } from 'commander';
import { loadConfiguration, nearest } from '../config/index.ts';
import type { StoredKey } from '../ledger/index.ts';
import { type AccountsOptions, requireUser, withAccounts } from './accounts.ts';
import { formatUsd, parseUsd } from './amount.ts';
import { Refusal } from './failure.ts';
import { type JsonOption, parseCount, parseTime, withConfig, withData, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { formatTime, note, print, printJson } from './print.ts';
import { type Column, renderTable } from './table.ts';

type Options = AccountsOptions & JsonOption;

interface CreateOptions extends Options {
  readonly name: string;
  readonly group: string;
  readonly models?: readonly string[];
  readonly quota?: number;
  readonly expires?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrency?: number;
}

interface ListOptions extends Options {
  readonly user?: string;
}

const stateOf = (key: StoredKey): string => {
  if (key.disabled) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= Date.now() ? 'expired' : 'active';
};

const usdOrNone = (units: number | null): string | null => (units === null ? null : formatUsd(units));

const columns: readonly Column<StoredKey>[] = [
  { title: 'ID', right: true, cell: (key) => key.id },
  { title: 'KEY', cell: (key) => `${key.prefix}` },
  { title: 'USER', right: true, cell: (key) => key.userId },
  { title: 'NAME', cell: (key) => key.name },
  { title: 'GROUP', cell: (key) => key.group },
  { title: 'MODELS', cell: (key) => key.models?.join(',') ?? 'all' },
  { title: 'QUOTA USD', right: true, cell: (key) => usdOrNone(key.quota) },
  { title: 'LEFT USD', right: true, cell: (key) => usdOrNone(key.quotaLeft) },
  { title: 'EXPIRES (UTC)', cell: (key) => formatTime(key.expiresAt) },
  { title: 'STATE', cell: stateOf },
];

function requireKnown(what: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const guess = nearest(name, known);
  throw new Refusal(`There is no ${what} ${name}.${guess === null ? '' : ` Did you mean "${guess}"?`}`);
}

/** A mistyped group would make a key that can do nothing. */
async function checkNames({ config, group, models }: CreateOptions, parts: Parts): Promise<void> {
  const result = await loadConfiguration(config, await parts.builtIns());
  if (!result.ok) {
    note(`The configuration in ${config} cannot be used: group and models were not checked. See gateway check.`);
    return;
  }
  requireKnown('group', group, [...result.configuration.groups.keys()]);
  for (const model of models ?? []) requireKnown('model', model, [...result.configuration.models.keys()]);
}

function limitsOf({ requestsPerMinute, tokensPerMinute, concurrency }: CreateOptions) {
  const limits = { requestsPerMinute, tokensPerMinute, concurrency };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

async function create(nameOrId: string, options: CreateOptions, parts: Parts): Promise<void> {
  await checkNames(options, parts);
  const { name, group, models, quota, expires } = options;
  const { key, secret } = await withAccounts(options, parts, async (accounts) => {
    const user = await requireUser(accounts, nameOrId);
    const limits = limitsOf(options);
    return accounts.createKey({
      userId: user.id,
      name,
      group,
      limits,
      ...(models === undefined ? {} : { models }),
      ...(quota === undefined ? {} : { quota }),
      ...(expires === undefined ? {} : { expiresAt: expires }),
    });
  });
  if (options.json) return printJson({ key, secret });
  note(`Key ${key.id} of ${nameOrId}, group ${key.group}. It is shown only now: keep it.`);
  print(secret);
}

async function list(options: ListOptions, parts: Parts): Promise<void> {
  const keys = await withAccounts(options, parts, async (accounts) => {
    const user = options.user === undefined ? null : await requireUser(accounts, options.user);
    return user === null ? accounts.listKeys() : accounts.listKeys(user.id);
  });
  if (options.json) printJson(keys);
  else print(renderTable(columns, keys));
}

async function revoke(which: string, options: Options, parts: Parts): Promise<void> {
  const key = await withAccounts(options, parts, (accounts) => accounts.revokeKey(which));
  if (options.json) printJson(key);
  else print(`Key ${key.id} (${key.prefix}) is revoked.`);
}

function parseExpiry(text: string): number {
  const time = parseTime(text);
  if (time <= Date.now()) throw new InvalidArgumentError('It is in the past.');
  return time;
}

export function addKeys(program: Command, parts: Parts): void {
  const keys = withExamples(
    program.command('keys').description('API keys.'),
    'gateway keys create alice',
    'gateway keys list',
    'gateway keys revoke 3',
  );
  const complete = (command: Command) => withJson(withData(withConfig(command)));
  withExamples(
    complete(keys.command('create').description('Make a key; the secret is printed once and not stored.'))
      .argument('<user>', 'name or number')
      .option('--name <name>', 'to tell keys apart', 'key')
      .option('--group <group>', 'a group of channels.yaml', 'default')
      .option('--models <names>', 'only these models, separated by commas', (text: string) =>
        text.split(',').map((name) => name.trim()),
      )
      .option('--quota <usd>', 'the most it may spend', parseUsd)
      .option('--expires <time>', 'until when it is good', parseExpiry)
      .option('--requests-per-minute <count>', 'limit', parseCount)
      .option('--tokens-per-minute <count>', 'limit', parseCount)
      .option('--concurrency <count>', 'requests at the same time', parseCount),
    'gateway keys create alice',
    'gateway keys create alice --name ci --group vip --models demo-chat --quota 5 --expires 2027-01-31',
  ).action((nameOrId: string, options: CreateOptions) => create(nameOrId, options, parts));
  withExamples(
    complete(keys.command('list').description('Keys without their secrets.')).option(
      '--user <user>',
      'only of this user',
    ),
    'gateway keys list --user alice',
  ).action((options: ListOptions) => list(options, parts));
  withExamples(
    complete(keys.command('revoke').description('End a key; a running gateway sees it at once.')).argument(
      '<key>',
      'its number, its prefix as listed, or the key itself',
    ),
    'gateway keys revoke 3',
  ).action((which: string, options: Options) => revoke(which, options, parts));
}
