/** From a folder of YAML files to a linked configuration, or to a list of what is wrong with it. */
import { resolve } from 'node:path';
import type { ChannelsFile } from '../../schemas/types/channels.ts';
import type { ModelsFile } from '../../schemas/types/models.ts';
import type { Channel, Group, Model, Route, Stage } from '../contract/model.ts';
import { operationEntry } from '../contract/operations.ts';
import type { Registry } from '../plugin.ts';
import { createFaults, type Faults } from './collect.ts';
import { type Fault, sortFaults } from './fault.ts';
import { linkChains } from './link-chains.ts';
import { type ChannelSeat, linkChannels } from './link-channels.ts';
import { linkGroups, unservedNotices } from './link-groups.ts';
import { linkModels } from './link-models.ts';
import { isAmong, linkRoutes } from './link-routes.ts';
import { loadOperatorPlugins, operatorFiles } from './operator-plugins.ts';
import { processEnvironment, readSource, type SourceFile, type UnresolvedValue } from './read.ts';
import { type FileName, fileNames, schemas } from './schemas.ts';
import { type GatewaySettings, linkSettings } from './settings.ts';
import type { Environment } from './substitute.ts';
import { validateSource } from './validate.ts';

export interface Configuration {
  readonly gateway: GatewaySettings;
  readonly groups: ReadonlyMap<string, Group>;
  readonly models: ReadonlyMap<string, Model>;
  readonly channels: readonly Channel[];
  readonly routes: readonly Route[];
  readonly chains: ReadonlyMap<string, readonly Stage[]>;
  /** Everything to watch: the four files, operators' modules, files named by `${file:…}`. */
  readonly files: readonly string[];
  /** What is allowed, but worth a line in the log. */
  readonly notices: readonly string[];
  /** The built-ins and the operators' own. */
  readonly registry: Registry;
  /** The four files it was made from. */
  readonly sources: Sources;
}

export type LoadResult =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly faults: Fault[]; readonly files: readonly string[] };

type Sources = Readonly<Record<FileName, SourceFile>>;

/** The content of the four files, where it does not come from the folder itself. */
export type Texts = Readonly<Record<FileName, string>>;

interface Loading {
  readonly folder: string;
  readonly faults: Faults;
  readonly files: Set<string>;
  readonly notices: string[];
  readonly secrets: string[];
}

/** Paths that the gateway itself serves, whatever routes.yaml says. */
const ownPaths = ['/healthz', '/readyz', '/openapi.json', '/files/*'];

function readAll(loading: Loading, environment: Environment, texts: Texts | undefined): Partial<Sources> {
  const sources: Partial<Record<FileName, SourceFile>> = {};
  for (const name of fileNames) {
    loading.files.add(resolve(loading.folder, `${name}.yaml`));
    const result = readSource(loading.folder, `${name}.yaml`, environment, texts?.[name]);
    if (!result.ok) {
      loading.faults.list.push(...result.faults);
      continue;
    }
    sources[name] = result.source;
    loading.secrets.push(...result.source.secrets);
    for (const file of result.source.included) loading.files.add(file);
  }
  return sources;
}

const channelOf = ({ path }: UnresolvedValue): string | null =>
  path[0] === 'channels' && typeof path[1] === 'string' ? path[1] : null;

/** Optional channels with a `${…}` that has no value; a missing value anywhere else is a fault. */
function findLeftOut(loading: Loading, sources: Partial<Sources>): Set<string> {
  const leftOut = new Set<string>();
  for (const name of fileNames) {
    const source = sources[name];
    const channels = (source?.value as Partial<ChannelsFile> | undefined)?.channels;
    for (const value of source?.unresolved ?? []) {
      const channel = name === 'channels' ? channelOf(value) : null;
      if (channel === null || channels?.[channel]?.optional !== true) loading.faults.list.push(value.fault);
      else if (!leftOut.has(channel)) {
        loading.notices.push(`the channel ${channel} is left out: ${value.fault.message}`);
        leftOut.add(channel);
      }
    }
  }
  return leftOut;
}

function isComplete(sources: Partial<Sources>): sources is Sources {
  return fileNames.every((name) => sources[name] !== undefined);
}

async function loadRegistry(loading: Loading, source: SourceFile | undefined, builtIns: Registry): Promise<Registry> {
  const names = (source?.value as { plugins?: unknown } | undefined)?.plugins;
  if (source === undefined || !Array.isArray(names) || !names.every((name) => typeof name === 'string'))
    return builtIns;
  for (const file of operatorFiles(source, names)) loading.files.add(file);
  return loadOperatorPlugins(source, names, builtIns, loading.faults);
}

const isChannel = (channel: Channel | null): channel is Channel => channel !== null;

function link(loading: Loading, sources: Sources, registry: Registry, leftOut: ReadonlySet<string>): Configuration {
  const { faults, notices } = loading;
  const gateway = linkSettings(sources.gateway, loading.folder, faults);
  const models = linkModels(sources.models, registry, faults);
  const modelNames = Object.keys((sources.models.value as ModelsFile).models);
  const seats: ChannelSeat[] = linkChannels(
    { source: sources.channels, registry, models, modelNames, faults },
    leftOut,
  );
  const groups = linkGroups(sources.channels, models, seats);
  const links = { source: sources.routes, registry, faults };
  const chains = linkChains(links);
  const { enabled, path } = gateway.metrics;
  if (isAmong(ownPaths, path)) faults.add(sources.gateway, ['metrics', 'path'], 'the gateway itself serves this path');
  const reserved = enabled ? [...ownPaths, path] : ownPaths;
  const routes = linkRoutes({ ...links, chains, reserved });
  const channels = seats.map((seat) => seat.channel).filter(isChannel);
  const allNotices = [...notices, ...unservedNotices(groups, models), ...unbilledNotices(routes, chains)];
  return {
    gateway,
    groups,
    models,
    channels,
    routes,
    chains,
    files: [...loading.files],
    notices: allNotices,
    registry,
    sources,
  };
}

/** Allowed, but hardly meant: what passes such a chain costs nothing and leaves no usage row. */
function unbilledNotices(routes: readonly Route[], chains: ReadonlyMap<string, readonly Stage[]>): string[] {
  // Reading what was made before and counting tokens costs nothing by design.
  const isWork = ({ operation }: Route): boolean => operationEntry(operation).capability === operation;
  const used = new Set(routes.filter(isWork).map((route) => route.chain));
  const unbilled = [...used].filter((name) => !chains.get(name)?.some((stage) => stage.plugin === 'billing'));
  return unbilled.map((name) => `the chain ${name} has no billing: its requests are free and leave no usage row`);
}

/** No value that came from the environment or a secret file is ever shown. Short ones would only garble the text. */
function withoutSecrets(faults: readonly Fault[], secrets: readonly string[]): Fault[] {
  const hidden = secrets.filter((secret) => secret.length >= 8);
  const hide = (text: string): string => hidden.reduce((result, secret) => result.replaceAll(secret, '***'), text);
  return faults.map((fault) => ({ ...fault, message: hide(fault.message), hint: fault.hint && hide(fault.hint) }));
}

/**
 * Reads, checks and links the four files of `folder`; with `texts` these stand for the files' content. Never throws for
 * what an operator wrote.
 */
export async function loadConfiguration(
  folder: string,
  builtIns: Registry,
  environment: Environment = processEnvironment(),
  texts?: Texts,
): Promise<LoadResult> {
  const loading: Loading = { folder, faults: createFaults(), files: new Set(), notices: [], secrets: [] };
  const { faults } = loading;
  const sources = readAll(loading, environment, texts);
  for (const name of fileNames) {
    const source = sources[name];
    if (source !== undefined) validateSource(source, schemas[name], faults);
  }
  const leftOut = findLeftOut(loading, sources);
  const registry = await loadRegistry(loading, sources.routes, builtIns);
  const configuration =
    isComplete(sources) && faults.list.length === 0 ? link(loading, sources, registry, leftOut) : null;
  if (configuration !== null && faults.list.length === 0) return { ok: true, configuration };
  return { ok: false, faults: sortFaults(withoutSecrets(faults.list, loading.secrets)), files: [...loading.files] };
}
