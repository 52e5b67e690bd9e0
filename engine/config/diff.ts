/** What changed between two configurations, in words an operator knows. No secret is ever told. */
import type { GatewayFile } from '../../schemas/types/gateway.ts';
import type { Channel, Group, Model, Price, Route, Stage } from '../contract/model.ts';
import type { LimitSettings } from '../contract/ports.ts';
import type { Registry } from '../plugin.ts';
import { diffSettings } from './diff-settings.ts';
import { compareThings, type Facts, hidden, shown, type Things } from './facts.ts';
import type { Configuration } from './load.ts';
import { isSameDefinition } from './operator-plugins.ts';
import type { GatewaySettings } from './settings.ts';
import { formatDuration, formatSize } from './units.ts';

function things<T>(items: Iterable<T>, nameOf: (item: T) => string, factsOf: (item: T) => Facts): Things {
  return Object.fromEntries([...items].map((item) => [nameOf(item), factsOf(item)]));
}

function limitFacts(limits: LimitSettings | null): Facts {
  return {
    requestsPerMinute: shown(limits?.requestsPerMinute ?? null),
    tokensPerMinute: shown(limits?.tokensPerMinute ?? null),
    concurrency: shown(limits?.concurrency ?? null),
  };
}

function priceFacts(price: Price): Facts {
  const entries = Object.entries(price).map(([kind, amount]) => [
    kind === 'image' ? 'price' : `${kind} price`,
    shown(amount),
  ]);
  return Object.fromEntries(entries);
}

const modelFacts = (model: Model): Facts => ({
  ...priceFacts(model.price),
  ...limitFacts(model.limits),
  family: shown(model.family.name),
  normalizer: shown(model.family.normalizer),
  rules: hidden(model.rules),
  operations: shown(model.operations.join(' ')),
  owner: hidden(model.ownedBy),
  'creation date': shown(new Date(model.created * 1_000).toISOString().slice(0, 10)),
  maxOutputTokens: shown(model.maxOutputTokens),
});

const groupFacts = (group: Group): Facts => ({ multiplier: shown(group.multiplier), ...limitFacts(group.limits) });

function groupsOf(configuration: Configuration, channel: Channel): string {
  const serves = (group: Group): boolean =>
    [...group.offers.values()].some(({ tiers }) => tiers.flat().some((candidate) => candidate.channel === channel));
  return [...configuration.groups.values()]
    .filter(serves)
    .map((group) => group.name)
    .join(' ');
}

const channelFacts = (configuration: Configuration, channel: Channel): Facts => ({
  vendor: shown(channel.vendor.name),
  'base URL': hidden([channel.origin, channel.basePath]),
  credentials: hidden(channel.credentials),
  groups: shown(groupsOf(configuration, channel)),
  models: shown([...channel.models.keys()].join(' ')),
  mapping: hidden([...channel.models]),
  priority: shown(channel.priority),
  weight: shown(channel.weight),
  headers: hidden(channel.headers),
  parameters: hidden(channel.parameters),
  'connect timeout': shown(formatDuration(channel.timeouts.connect)),
  'first byte timeout': shown(formatDuration(channel.timeouts.firstByte)),
  'idle timeout': shown(formatDuration(channel.timeouts.idle)),
  onAbort: shown(channel.onAbort),
  'failures before cooldown': shown(channel.cooldown.failures),
  'first cooldown': shown(formatDuration(channel.cooldown.first)),
  'longest cooldown': shown(formatDuration(channel.cooldown.longest)),
  protocols: shown(channel.protocols.join(' ')),
});

const chainFacts = ([, stages]: readonly [string, readonly Stage[]]): Facts => ({
  stages: shown(stages.map((stage) => stage.plugin).join(' ')),
  ...Object.fromEntries(stages.map((stage) => [`options of ${stage.plugin}`, hidden(stage.options)])),
});

const routeFacts = (route: Route): Facts => ({
  operation: shown(route.operation),
  protocol: shown(route.protocol),
  chain: shown(route.chain),
  timeout: shown(formatDuration(route.timeout)),
  bodyLimit: shown(formatSize(route.bodyLimit)),
  failover: hidden(route.failover),
});

function diffRegistry(before: Registry, after: Registry): string | null {
  const lists = (registry: Registry) => Object.values(registry).flat() as readonly { readonly name: string }[];
  const old = new Map(lists(before).map((definition) => [definition.name, definition]));
  const current = new Map(lists(after).map((definition) => [definition.name, definition]));
  const words = [...new Set([...old.keys(), ...current.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), current.get(name)];
    if (was === undefined) return [`+${name}`];
    if (is === undefined) return [`-${name}`];
    return isSameDefinition(was, is) ? [] : [`${name} loaded anew`];
  });
  return words.length === 0 ? null : `plugins: ${words.join(', ')}`;
}

const sections: readonly (readonly [string, (configuration: Configuration) => Things])[] = [
  ['models', ({ models }) => things(models.values(), (model) => model.name, modelFacts)],
  ['groups', ({ groups }) => things(groups.values(), (group) => group.name, groupFacts)],
  [
    'channels',
    (configuration) =>
      things(
        configuration.channels,
        (channel) => channel.name,
        (channel) => channelFacts(configuration, channel),
      ),
  ],
  ['chains', ({ chains }) => things(chains, ([name]) => name, chainFacts)],
  ['routes', ({ routes }) => things(routes, (route) => `${route.method} ${route.path}`, routeFacts)],
];

/** A path as the file writes it: the same file in a folder of its own, to be checked, changes nothing. */
const settingsOf = ({ gateway, sources }: Configuration): GatewaySettings => ({
  ...gateway,
  dataDirectory: (sources.gateway.value as GatewayFile).dataDirectory,
});

/**
 * One line per part that changed: `models: +beta-4-image, price of alpha-image-1k 0.20 → 0.25`. Lines about gateway.yaml
 * say whether a setting is live or needs a restart. Empty where nothing changed.
 */
export function diffConfigurations(before: Configuration, after: Configuration): string[] {
  const lines = sections.map(([title, read]) => compareThings(title, read(before), read(after)));
  const settings = diffSettings(settingsOf(before), settingsOf(after));
  return [
    ...lines,
    diffRegistry(before.registry, after.registry),
    settings.length === 0 ? null : `gateway: ${settings.join(', ')}`,
  ].filter((line) => line !== null);
}
