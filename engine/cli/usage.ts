/** `gateway usage` */
import { type Command, InvalidArgumentError } from 'commander';
import type { UsageRow } from '../contract/usage.ts';
import { maximumUsageRows } from '../ledger/accounts-contract.ts';
import { type AccountsOptions, requireUser, withAccounts } from './accounts.ts';
import { formatUsd } from './amount.ts';
import { type JsonOption, parseCount, parseTime, withConfig, withData, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { formatTime, print, printJson } from './print.ts';
import { type Column, renderTable } from './table.ts';

interface UsageOptions extends AccountsOptions, JsonOption {
  readonly user?: string;
  readonly key?: number;
  readonly model?: string;
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  readonly before?: string;
}

/** What is counted neither in images nor in tokens; tokens of audio are part of the tokens. */
function otherCounts({
  seconds,
  characters,
  searchUnits,
  audioInputTokens,
  audioOutputTokens,
}: UsageRow): string | null {
  const counts: readonly (readonly [number, string])[] = [
    [seconds, 's'],
    [characters, 'characters'],
    [searchUnits, 'search units'],
    [audioInputTokens, 'audio in'],
    [audioOutputTokens, 'audio out'],
  ];
  const shown = counts.filter(([count]) => count !== 0).map(([count, unit]) => `${count} ${unit}`);
  return shown.length === 0 ? null : shown.join(', ');
}

const columns: readonly Column<UsageRow>[] = [
  { title: 'TIME (UTC)', cell: (row) => formatTime(row.time) },
  { title: 'REQUEST', cell: (row) => row.requestId },
  { title: 'USER', right: true, cell: (row) => row.userId },
  { title: 'KEY', right: true, cell: (row) => row.keyId },
  { title: 'ENDPOINT', cell: (row) => row.endpoint },
  { title: 'MODEL', cell: (row) => row.model },
  { title: 'GROUP', cell: (row) => `${row.group} ×${row.multiplier}` },
  { title: 'CHANNEL', cell: (row) => row.channel },
  { title: 'TRIES', right: true, cell: (row) => row.attempts },
  { title: 'IMAGES', right: true, cell: (row) => row.images },
  { title: 'INPUT', right: true, cell: (row) => row.inputTokens },
  { title: 'OUTPUT', right: true, cell: (row) => row.outputTokens },
  { title: 'OTHER', cell: otherCounts },
  { title: 'UNITS', right: true, cell: (row) => row.quota },
  { title: 'USD', right: true, cell: (row) => formatUsd(row.quota) },
  { title: 'STATUS', cell: (row) => `${row.status} ${row.code ?? row.outcome}` },
  { title: 'COUNTED', cell: (row) => row.usageSource },
  { title: 'MS', right: true, cell: (row) => row.durationMs },
];

async function usage(options: UsageOptions, parts: Parts): Promise<void> {
  const { key, model, from, to, limit, before } = options;
  const rows = await withAccounts(options, parts, async (accounts) => {
    const user = options.user === undefined ? null : await requireUser(accounts, options.user);
    return accounts.usage({
      limit,
      ...(user === null ? {} : { userId: user.id }),
      ...(key === undefined ? {} : { keyId: key }),
      ...(model === undefined ? {} : { model }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(before === undefined ? {} : { before }),
    });
  });
  if (options.json) printJson(rows);
  else print(renderTable(columns, rows));
}

function parseLimit(text: string): number {
  const limit = parseCount(text);
  if (limit > maximumUsageRows)
    throw new InvalidArgumentError(`It must be at most ${maximumUsageRows}; --before goes on.`);
  return limit;
}

export function addUsage(program: Command, parts: Parts): void {
  const command = program
    .command('usage')
    .description('The usage log, newest first.')
    .option('--user <user>', 'only of this user, by name or number')
    .option('--key <id>', 'only of the key with this number', parseCount)
    .option('--model <name>', 'only of this model')
    .option('--from <time>', 'not before', parseTime)
    .option('--to <time>', 'before', parseTime)
    .option('--limit <count>', `rows, at most ${maximumUsageRows}`, parseLimit, 50)
    .option('--before <request>', 'go on after this row: the last request of the page before')
    .action((options: UsageOptions) => usage(options, parts));
  withExamples(
    withJson(withData(withConfig(command))),
    'gateway usage --limit 10',
    'gateway usage --user alice --from 2027-01-01 --to 2027-02-01 --json',
  );
}
