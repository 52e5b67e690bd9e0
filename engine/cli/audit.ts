/** `gateway audit` */
import type { Command } from 'commander';
import type { Audit } from '../ledger/index.ts';
import { type AccountsOptions, withAccounts } from './accounts.ts';
import { formatUsd } from './amount.ts';
import { NotWell } from './failure.ts';
import { type JsonOption, withConfig, withData, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { print, printJson } from './print.ts';
import { type Column, renderTable } from './table.ts';

type AuditedAccount = Audit['accounts'][number];

const columns: readonly Column<AuditedAccount>[] = [
  { title: 'USER', right: true, cell: (account) => account.userId },
  { title: 'NAME', cell: (account) => account.name },
  { title: 'CREDITS', right: true, cell: (account) => account.credits },
  { title: 'USAGE', right: true, cell: (account) => account.usage },
  { title: 'BALANCE', right: true, cell: (account) => account.balance },
  { title: 'BALANCE USD', right: true, cell: (account) => formatUsd(account.balance) },
  { title: 'DIFFERENCE', right: true, cell: (account) => account.difference },
];

async function audit(options: AccountsOptions & JsonOption, parts: Parts): Promise<void> {
  const result = await withAccounts(options, parts, (accounts) => accounts.audit());
  if (options.json) printJson(result);
  else {
    const verdict = result.ok
      ? 'The books are right: every balance is credits − usage.'
      : ['The books are wrong.', ...result.faults].join('\n');
    const { requests, quota } = result.pending;
    const pending =
      requests === 0 ? '' : `\nStill in the journal: ${quota} units of ${requests} requests. A gateway books them.`;
    print(`${renderTable(columns, result.accounts)}\n\n${verdict}${pending}`);
  }
  if (!result.ok) throw new NotWell();
}

export function addAudit(program: Command, parts: Parts): void {
  const command = program
    .command('audit')
    .description('Prove the sums: for every account, balance = credits − usage.')
    .action((options: AccountsOptions & JsonOption) => audit(options, parts));
  withExamples(
    withJson(withData(withConfig(command))),
    'gateway audit',
    'gateway audit --data /var/lib/gateway --json',
  );
}
