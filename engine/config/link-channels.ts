/** channels.yaml: vendor accounts, checked against models, groups, vendors and protocols. */
import type { ChannelsFile } from '../../schemas/types/channels.ts';
import type { Channel, Model } from '../contract/model.ts';
import { type Operation, operationEntry } from '../contract/operations.ts';
import type { JsonObject } from '../contract/values.ts';
import type { VendorDefinition } from '../contract/vendor.ts';
import type { Registry } from '../plugin.ts';
import type { Faults } from './collect.ts';
import { nearest } from './nearest.ts';
import type { SourceFile } from './read.ts';
import { duration } from './units.ts';

type Entry = ChannelsFile['channels'][string];

export interface ChannelLinks {
  readonly source: SourceFile;
  readonly registry: Registry;
  /** Every name that models.yaml holds. */
  readonly modelNames: readonly string[];
  readonly models: ReadonlyMap<string, Model>;
  readonly faults: Faults;
}

/** A channel with the names of its groups; `channel` is null where it is left out. */
export interface ChannelSeat {
  readonly channel: Channel | null;
  readonly groups: readonly string[];
  readonly models: readonly string[];
}

function checkGroups(links: ChannelLinks, name: string, entry: Entry): void {
  const known = Object.keys((links.source.value as ChannelsFile).groups);
  for (const [index, group] of entry.groups.entries()) {
    if (known.includes(group)) continue;
    links.faults.addUnknown(links.source, ['channels', name, 'groups', index], 'group', known);
  }
}

function checkModels(links: ChannelLinks, name: string, entry: Entry): void {
  for (const model of Object.keys(entry.models)) {
    if (links.modelNames.includes(model)) continue;
    const path = ['channels', name, 'models', model];
    links.faults.addUnknown(links.source, path, 'model', links.modelNames, { at: 'key' });
  }
}

/** The protocols of the account that its vendor really speaks. */
function linkProtocols(links: ChannelLinks, name: string, entry: Entry, vendor: VendorDefinition): string[] {
  const known = Object.keys(vendor.speaks);
  for (const [index, protocol] of (entry.protocols ?? []).entries()) {
    if (known.includes(protocol)) continue;
    const path = ['channels', name, 'protocols', index];
    const message = `the vendor ${vendor.name} does not speak it (${known.join(', ')})`;
    links.faults.add(links.source, path, message, { hint: nearest(protocol, known) });
  }
  const spoken = entry.protocols?.filter((protocol) => known.includes(protocol)) ?? [];
  return spoken.length > 0 ? spoken : known;
}

/** What must be spoken for an operation: of direct routes each has formats of its own. */
function spokenFor(operation: Operation): string {
  const { kind } = operationEntry(operation);
  return kind === 'direct' ? operation : kind;
}

/** A model for images at an account that speaks no image protocol could never be served. */
function checkSpoken(links: ChannelLinks, name: string, entry: Entry, protocols: readonly string[]): void {
  const spoken = new Set<string>(
    links.registry.protocols
      .filter((protocol) => protocols.includes(protocol.name))
      .map((protocol) => (protocol.kind === 'direct' ? protocol.operation : protocol.kind)),
  );
  for (const modelName of Object.keys(entry.models)) {
    const wanted = links.models.get(modelName)?.operations.map(spokenFor) ?? [];
    const missing = wanted.find((kind) => !spoken.has(kind));
    if (missing === undefined || wanted.some((kind) => spoken.has(kind))) continue;
    const message = `the channel speaks no ${missing} protocol (${protocols.join(', ')})`;
    links.faults.add(links.source, ['channels', name, 'models', modelName], message, { at: 'key' });
  }
}

/** They frame or route the request: the engine alone writes them. */
const ownHeaders = [
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** The mapping and the client decide them. */
const ownMembers = ['model', 'stream'];

function checkOverrides(links: ChannelLinks, name: string, { headers, parameters }: Entry): void {
  const refuse = (part: readonly string[], key: string): void => {
    const path = ['channels', name, ...part, key];
    links.faults.add(links.source, path, 'the gateway itself sets it', { at: 'key' });
  };
  for (const header of ownHeaders) if (Object.hasOwn(headers, header)) refuse(['headers'], header);
  for (const member of ownMembers) if (Object.hasOwn(parameters.set, member)) refuse(['parameters', 'set'], member);
  for (const [index, member] of parameters.remove.entries()) {
    if (!ownMembers.includes(member)) continue;
    links.faults.add(links.source, ['channels', name, 'parameters', 'remove', index], 'the gateway itself sets it');
  }
}

function findVendor(links: ChannelLinks, name: string, entry: Entry): VendorDefinition | null {
  const vendor = links.registry.vendors.find((candidate) => candidate.name === entry.vendor);
  if (vendor !== undefined) return vendor;
  const known = links.registry.vendors.map((candidate) => candidate.name);
  links.faults.addUnknown(links.source, ['channels', name, 'vendor'], 'vendor', known);
  return null;
}

function parseBase(links: ChannelLinks, name: string, text: string): { origin: string; basePath: string } | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && url.username === '' && url.password === '') {
    return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
  }
  const message = url === null ? 'is not a URL' : 'must not hold a name or password: secrets belong in credentials';
  links.faults.add(links.source, ['channels', name, 'baseUrl'], message);
  return null;
}

function linkTimes(links: ChannelLinks, name: string, entry: Entry): Pick<Channel, 'timeouts' | 'cooldown'> {
  const { timeouts, cooldown } = entry;
  const first = duration(cooldown.first);
  const longest = duration(cooldown.longest);
  if (longest < first) {
    links.faults.add(links.source, ['channels', name, 'cooldown'], 'longest is shorter than first', { at: 'key' });
  }
  return {
    timeouts: {
      connect: duration(timeouts.connect),
      firstByte: duration(timeouts.firstByte),
      idle: duration(timeouts.idle),
    },
    cooldown: { failures: cooldown.failures, first, longest },
  };
}

function linkChannel(
  links: ChannelLinks,
  name: string,
  entry: Entry,
  vendor: VendorDefinition,
  protocols: readonly string[],
): Channel | null {
  const base = parseBase(links, name, entry.baseUrl ?? vendor.baseUrl);
  const times = linkTimes(links, name, entry);
  if (base === null) return null;
  return {
    name,
    vendor,
    ...base,
    credentials: entry.credentials,
    models: new Map(Object.entries(entry.models)),
    priority: entry.priority,
    weight: entry.weight,
    headers: entry.headers,
    parameters: { set: entry.parameters.set as JsonObject, remove: entry.parameters.remove },
    ...times,
    onAbort: entry.onAbort,
    protocols,
  };
}

/** All channels in the order of the file; those in `leftOut` are checked, but not made. */
export function linkChannels(links: ChannelLinks, leftOut: ReadonlySet<string>): ChannelSeat[] {
  const file = links.source.value as ChannelsFile;
  return Object.entries(file.channels).map(([name, entry]) => {
    checkGroups(links, name, entry);
    checkModels(links, name, entry);
    checkOverrides(links, name, entry);
    const vendor = findVendor(links, name, entry);
    if (vendor === null) return { channel: null, groups: entry.groups, models: Object.keys(entry.models) };
    const protocols = linkProtocols(links, name, entry, vendor);
    checkSpoken(links, name, entry, protocols);
    const channel = leftOut.has(name) ? null : linkChannel(links, name, entry, vendor, protocols);
    return { channel, groups: entry.groups, models: Object.keys(entry.models) };
  });
}
