/** `gateway simulate` */
import type { Command } from 'commander';
import { type JsonOption, parsePort, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { print } from './print.ts';
import { startSimulationAt } from './simulation.ts';
import { untilStopped } from './stop.ts';

interface SimulateOptions extends JsonOption {
  readonly port: number;
}

async function simulate({ port, json }: SimulateOptions, parts: Parts): Promise<void> {
  const simulation = await startSimulationAt(port, parts);
  const { url, vendors, control } = simulation;
  if (json) print(JSON.stringify({ ready: true, url, vendors, control }));
  else {
    const names = Object.entries(vendors).map(([name, base]) => `${name.padEnd(8)} ${base}`);
    print([...names, `${'control'.padEnd(8)} ${control}`, `\nSIMULATOR_URL=${url}`].join('\n'));
  }
  await untilStopped();
  await simulation.close();
}

export function addSimulate(program: Command, parts: Parts): void {
  const command = program
    .command('simulate')
    .description('Run vendors that behave like the real ones and cost nothing, until Ctrl-C.')
    .option('-p, --port <port>', 'listen here', parsePort, 8081)
    .action((options: SimulateOptions) => simulate(options, parts));
  withExamples(withJson(command), 'gateway simulate', 'gateway simulate --port 0 --json');
}
