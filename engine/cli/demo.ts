/** `gateway demo`: simulator and gateway with a ready key, for whoever wants to see it work. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { type Environment, packageRoot, processEnvironment } from '../config/index.ts';
import { type RunningGateway, startGateway } from '../gateway.ts';
import { createLog } from '../observe/log.ts';
import { parseUsd } from './amount.ts';
import { demoCommands } from './demo-commands.ts';
import { type DataOption, parsePort, withData, withExamples } from './options.ts';
import type { Parts, Simulation } from './parts.ts';
import { print } from './print.ts';
import { startSimulationAt } from './simulation.ts';
import { untilStopped } from './stop.ts';

interface DemoOptions extends DataOption {
  readonly config?: string;
  readonly port?: number;
  readonly verbose?: true;
}

const demoName = 'demo';
const demoBalance = parseUsd('20');

/** Of the whole environment only the address: the demo must never call, and pay, a real vendor. */
function environmentFor(options: DemoOptions, simulator: string): Environment {
  const { HOST, PORT, ...rest } = processEnvironment();
  const own = { HOST, PORT, SIMULATOR_URL: simulator };
  return options.config === undefined ? own : { ...rest, ...own };
}

/** A user with money and a new key; keys of earlier demos on the same data end. */
async function prepareKey({ ledger, snapshot }: RunningGateway): Promise<{ secret: string; group: string }> {
  const { accounts } = ledger;
  const user = (await accounts.findUser(demoName)) ?? (await accounts.createUser({ name: demoName }));
  if (user.balance < demoBalance) await accounts.credit(user.id, demoBalance - user.balance, 'demo');
  for (const key of await accounts.listKeys(user.id)) {
    if (key.name === demoName && !key.disabled) await accounts.revokeKey(key.id);
  }
  const group = snapshot.groups.has('default') ? 'default' : [...snapshot.groups.keys()][0]!;
  const { secret } = await accounts.createKey({ userId: user.id, name: demoName, group });
  return { secret, group };
}

async function present(gateway: RunningGateway, simulation: Simulation): Promise<void> {
  const { secret, group } = await prepareKey(gateway);
  const base = `${gateway.url}/v1`;
  const ready = { ready: true, base_url: base, key: secret, simulator: simulation.url, data: gateway.dataDirectory };
  const commands = demoCommands(base, secret, gateway.snapshot.groups.get(group)!);
  print([JSON.stringify(ready), ...commands].join('\n\n'));
}

async function runGateway(
  options: DemoOptions,
  parts: Parts,
  simulation: Simulation,
  data: string,
  stopped: Promise<unknown>,
): Promise<void> {
  const gateway = await startGateway({
    folder: options.config ?? packageRoot(),
    builtIns: await parts.builtIns(),
    log: createLog({ level: options.verbose ? 'info' : 'error', format: 'pretty' }),
    dataDirectory: data,
    environment: environmentFor(options, simulation.url),
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  try {
    await present(gateway, simulation);
    await stopped;
  } finally {
    await gateway.close();
  }
}

/** It goes with the process, however a signal or an error ends it. */
async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function demo(options: DemoOptions, parts: Parts): Promise<void> {
  // From here on a signal is a wish to end cleanly, also while things start.
  const stopped = untilStopped();
  const simulation = await startSimulationAt(0, parts);
  const data = options.data === undefined ? await makeTemporaryFolder() : resolve(options.data);
  try {
    await runGateway(options, parts, simulation, data, stopped);
  } finally {
    await simulation.close();
  }
}

export function addDemo(program: Command, parts: Parts): void {
  const command = program
    .command('demo')
    .description('Run a gateway against simulated vendors, with a ready key, until Ctrl-C.')
    .option('-p, --port <port>', 'listen here instead of listen.port of gateway.yaml (8080)', parsePort)
    .option('-c, --config <dir>', 'folder of the four YAML files (default: those that come with the gateway)')
    .option('-v, --verbose', 'log what happens')
    .action((options: DemoOptions) => demo(options, parts));
  const data = 'a new one in the folder for temporary files, deleted at the end';
  withExamples(withData(command, data), 'gateway demo', 'gateway demo --port 9000 --data ./demo-data');
}
