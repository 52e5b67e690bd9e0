/** `gateway simulate` */
import type { Command } from 'commander';
import { type JsonOption, parsePort, withExamples, withJson } from './options.ts';
import type { Parts } from './parts.ts';
import { print } from './print.ts';
import { startSimulationAt } from './simulation.ts';
import { untilStopped } from './stop.ts';

/** Wide enough for the longest vendor's name. */
const NAME_WIDTH = 9;

const FAULTS = `
It plays OpenAI, Anthropic, Gemini, xAI, Cohere and Jina, and prints their base URLs. Faults come on demand: behind a
model's name (gpt-4.1-mini!status=503,retryAfter=2), or as rules that are posted to <control>/faults. What arrived is
at <control>/received. simulator/README.md has every fault, and what a prompt can steer.`;

interface SimulateOptions extends JsonOption {
  readonly port: number;
}

async function simulate({ port, json }: SimulateOptions, parts: Parts): Promise<void> {
  const simulation = await startSimulationAt(port, parts);
  const { url, vendors, control } = simulation;
  if (json) print(JSON.stringify({ ready: true, url, vendors, control }));
  else {
    const names = Object.entries(vendors).map(([name, base]) => `${name.padEnd(NAME_WIDTH)} ${base}`);
    print([...names, `${'control'.padEnd(NAME_WIDTH)} ${control}`, `\nSIMULATOR_URL=${url}`].join('\n'));
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
  withExamples(withJson(command).addHelpText('after', FAULTS), 'gateway simulate', 'gateway simulate --port 0 --json');
}
