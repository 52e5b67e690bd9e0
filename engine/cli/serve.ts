/** `gateway serve` */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { requireConfiguration } from '../configuration-error.ts';
import { startGateway } from '../gateway.ts';
import { createLog } from '../observe/log.ts';
import { type ConfigOption, type DataOption, parsePort, withConfig, withData, withExamples } from './options.ts';
import type { Parts } from './parts.ts';
import { untilStopped } from './stop.ts';

interface ServeOptions extends ConfigOption, DataOption {
  readonly port?: number;
}

async function serve({ config, data, port }: ServeOptions, parts: Parts): Promise<void> {
  const builtIns = await parts.builtIns();
  const configuration = await requireConfiguration(config, builtIns);
  const log = createLog(configuration.gateway.log);
  const gateway = await startGateway({
    folder: config,
    builtIns,
    log,
    configuration,
    onReload: (next) => {
      log.level = next.gateway.log.level;
    },
    ...(data === undefined ? {} : { dataDirectory: data }),
    ...(port === undefined ? {} : { port }),
  });
  // Whoever reads `ready` may send a signal at once. A reload that fails has told the log, and the old configuration goes on.
  const stopped = untilStopped(() => void gateway.reload().catch(() => {}));
  log.info(
    {
      address: gateway.url,
      configuration: resolve(config),
      data: gateway.dataDirectory,
      models: configuration.models.size,
      channels: configuration.channels.length,
      routes: configuration.routes.length,
    },
    'ready',
  );
  const signal = await stopped;
  log.info({ signal }, 'stopping: running requests may end');
  await gateway.close();
  log.info({}, 'stopped');
}

export function addServe(program: Command, parts: Parts): void {
  const command = program
    .command('serve')
    .description('Serve requests until SIGTERM or Ctrl-C; SIGHUP reads the configuration anew.')
    .option('-p, --port <port>', 'listen here instead of listen.port of gateway.yaml', parsePort)
    .action((options: ServeOptions) => serve(options, parts));
  withExamples(
    withData(withConfig(command)),
    'gateway serve',
    'gateway serve --config /etc/gateway --data /var/lib/gateway --port 8080',
  );
}
