/** `gateway check` */
import type { Command } from 'commander';
import {
  type Configuration,
  diffConfigurations,
  type Fault,
  formatFault,
  loadConfiguration,
  readActive,
} from '../config/index.ts';
import { ConfigurationError, compileConfiguration, requireConfiguration } from '../configuration-error.ts';
import { dataDirectoryOf } from './accounts.ts';
import { NotWell, Refusal } from './failure.ts';
import {
  type ConfigOption,
  type DataOption,
  type JsonOption,
  withConfig,
  withData,
  withExamples,
  withJson,
} from './options.ts';
import type { Parts } from './parts.ts';
import { print, printJson } from './print.ts';
import { createStandIn } from './stand-in.ts';

interface CheckOptions extends ConfigOption, DataOption, JsonOption {
  readonly against?: string;
}

type Checked = { readonly configuration: Configuration } | { readonly faults: readonly Fault[] };

/** What the files say and what the plugins make of it. */
async function checkFolder(folder: string, parts: Parts): Promise<Checked> {
  const result = await loadConfiguration(folder, await parts.builtIns());
  if (!result.ok) return { faults: result.faults };
  try {
    const snapshot = await compileConfiguration(result.configuration, createStandIn(null).lent);
    snapshot.retire();
    await snapshot.done;
    return { configuration: result.configuration };
  } catch (error) {
    if (error instanceof ConfigurationError) return { faults: error.faults };
    throw error;
  }
}

/** What it is compared with, and its name for people; null where no gateway runs. */
interface Other {
  readonly name: string;
  readonly configuration: Configuration;
}

async function findOther(options: CheckOptions, parts: Parts): Promise<Other | null> {
  const { against } = options;
  if (against !== undefined)
    return { name: against, configuration: await requireConfiguration(against, await parts.builtIns()) };
  const directory = await dataDirectoryOf(options, parts);
  const active = await readActive(directory, await parts.builtIns());
  if (active === null) return null;
  const name = `the gateway running on ${directory}`;
  if (!active.ok)
    throw new Refusal(`What ${name} uses cannot be loaded here:\n${active.faults.map(formatFault).join('\n')}`);
  return { name, configuration: active.configuration };
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function summaryOf({ models, channels, routes, notices }: Configuration): string[] {
  const counts = [plural(models.size, 'model'), plural(channels.length, 'channel'), plural(routes.length, 'route')];
  return [`The configuration is valid: ${counts.join(', ')}.`, ...notices.map((notice) => `notice: ${notice}`)];
}

function changesText(other: Other | null, changes: readonly string[]): string {
  if (other === null) return 'No gateway is running on the data directory: there is nothing to compare with.';
  if (changes.length === 0) return `Nothing would change against ${other.name}.`;
  return [`Against ${other.name}:`, ...changes.map((change) => `  ${change}`)].join('\n');
}

async function check(options: CheckOptions, parts: Parts): Promise<void> {
  const checked = await checkFolder(options.config, parts);
  if ('faults' in checked) {
    const { faults } = checked;
    if (options.json) printJson({ ok: false, faults });
    else print([...faults.map(formatFault), '', `${plural(faults.length, 'fault')}.`].join('\n'));
    throw new NotWell();
  }
  const { configuration } = checked;
  const other = await findOther(options, parts);
  const changes = other === null ? [] : diffConfigurations(other.configuration, configuration);
  if (options.json) {
    const against = other?.name ?? null;
    printJson({ ok: true, faults: [], notices: configuration.notices, against, changes });
  } else print([...summaryOf(configuration), '', changesText(other, changes)].join('\n'));
}

export function addCheck(program: Command, parts: Parts): void {
  const command = program
    .command('check')
    .description('Find every fault of the configuration, and tell what it would change for the running gateway.')
    .option('--against <dir>', 'compare with this folder instead of the running gateway')
    .action((options: CheckOptions) => check(options, parts));
  withExamples(
    withJson(withData(withConfig(command))),
    'gateway check',
    'gateway check --config ./next --data /var/lib/gateway',
    'gateway check --config ./next --against /etc/gateway --json',
  );
}
