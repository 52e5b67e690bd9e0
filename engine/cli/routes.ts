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

interface ChainRow {
  readonly name: string;
  readonly routes: number;
  readonly stages: readonly CompiledStage[];
}

const chainColumns: readonly Column<ChainRow>[] = [
  { title: 'CHAIN', cell: (row) => row.name },
  { title: 'ROUTES', right: true, cell: (row) => row.routes },
  { title: 'STAGES', cell: (row) => row.stages.map(({ plugin }) => plugin).join(' → ') },
];

const stageColumns: readonly Column<CompiledStage>[] = [
  { title: 'STAGE', cell: (row) => row.plugin },
  { title: 'HOOKS', cell: (row) => row.hooks.join(' ') },
];

function chainRows(routes: readonly CompiledRoute[]): ChainRow[] {
  const chains = new Map(routes.map(({ route, stages }) => [route.chain, stages]));
  return [...chains].map(([name, stages]) => ({
    name,
    stages,
    routes: routes.filter(({ route }) => route.chain === name).length,
  }));
}

/** Each stage once, in the order of its first chain. Options may give it other hooks in another chain. */
function stageRows(chains: readonly ChainRow[]): CompiledStage[] {
  const stages = chains.flatMap((chain) => chain.stages);
  return [...new Map(stages.map((stage) => [`${stage.plugin} ${stage.hooks.join(' ')}`, stage])).values()];
}

function renderRoutes(routes: readonly CompiledRoute[]): string {
  const chains = chainRows(routes);
  const tables = [
    renderTable(routeColumns, routes),
    renderTable(chainColumns, chains),
    renderTable(stageColumns, stageRows(chains)),
  ];
  return tables.join('\n\n');
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

async function showRoutes({ config, json }: ConfigOption & JsonOption, parts: Parts): Promise<void> {
  const configuration = await requireConfiguration(config, await parts.builtIns());
  const snapshot = await compileConfiguration(configuration, createStandIn(null).lent);
  const { routes } = snapshot;
  if (json) printJson(routes.map(plain));
  else print(renderRoutes(routes));
  snapshot.retire();
  await snapshot.done;
}

export function addRoutes(program: Command, parts: Parts): void {
  const command = program
    .command('routes')
    .description('Every route with its chain: the stages in their order, and what each of them does.')
    .action((options: ConfigOption & JsonOption) => showRoutes(options, parts));
  withExamples(withJson(withConfig(command)), 'gateway routes', 'gateway routes --config /etc/gateway --json');
}
