/** `gateway routes` */
import type { Command } from 'commander';
import type { CompiledRoute, CompiledStage } from '../chain/compiled-route.ts';
import { formatDuration, formatSize } from '../config/index.ts';
import { compileConfiguration, requireConfiguration } from '../configuration-error.ts';
import { type ConfigOption, type JsonOption, withConfig, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { print, printJson } from './print.ts';
import { createStandIn } from './stand-in.ts';
import { type Column, renderTable } from './table.ts';

const routeColumns: readonly Column<CompiledRoute>[] = [
  { title: 'METHOD', cell: ({ route }) => route.method },
  { title: 'PATH', cell: ({ route }) => route.path },
  { title: 'OPERATION', cell: ({ route }) => route.operation },
  { title: 'PROTOCOL', cell: ({ route }) => route.protocol },
  { title: 'CHAIN', cell: ({ route }) => route.chain },
  { title: 'TIMEOUT', right: true, cell: ({ route }) => formatDuration(route.timeout) },
  { title: 'BODY LIMIT', right: true, cell: ({ route }) => formatSize(route.bodyLimit) },
];

interface StageRow extends CompiledStage {
  readonly chain: string;
  readonly position: number;
}

const stageColumns: readonly Column<StageRow>[] = [
  { title: 'CHAIN', cell: (row) => (row.position === 1 ? row.chain : '') },
  { title: '#', right: true, cell: (row) => row.position },
  { title: 'STAGE', cell: (row) => row.plugin },
  { title: 'HOOKS', cell: (row) => row.hooks.join(' ') },
];

function stageRows(routes: readonly CompiledRoute[]): StageRow[] {
  const chains = new Map(routes.map(({ route, stages }) => [route.chain, stages]));
  return [...chains].flatMap(([chain, stages]) =>
    stages.map((stage, index) => ({ ...stage, chain, position: index + 1 })),
  );
}

const plain = ({ route, stages }: CompiledRoute) => ({
  method: route.method,
  path: route.path,
  operation: route.operation,
  protocol: route.protocol,
  timeoutMs: route.timeout,
  bodyLimitBytes: route.bodyLimit,
  failover: route.failover,
  chain: { name: route.chain, stages },
});

async function showRoutes({ config, json }: ConfigOption & JsonOption, { builtIns }: Parts): Promise<void> {
  const configuration = await requireConfiguration(config, builtIns);
  const snapshot = await compileConfiguration(configuration, createStandIn(null).lent);
  const { routes } = snapshot;
  if (json) printJson(routes.map(plain));
  else print(`${renderTable(routeColumns, routes)}\n\n${renderTable(stageColumns, stageRows(routes))}`);
  snapshot.retire();
  await snapshot.done;
}

export function addRoutes(program: Command, parts: Parts): void {
  const command = program
    .command('routes')
    .description('Every route with its compiled chain: the stages in order and what each of them does.')
    .action((options: ConfigOption & JsonOption) => showRoutes(options, parts));
  withExamples(withJson(withConfig(command)), 'gateway routes', 'gateway routes --config /etc/gateway --json');
}
