/** Every channel of the configuration, and why it would be tried or not. */
import type { ChannelsFile } from '../../../schemas/types/channels.ts';
import type { CompiledRoute } from '../../chain/compiled-route.ts';
import type { Target } from '../../chain/target.ts';
import type { Configuration } from '../../config/index.ts';
import type { Candidate, Offer } from '../../contract/model.ts';

export interface ExplainedChannel {
  readonly channel: string;
  /** 1: its tier is tried first; null: it is not tried. */
  readonly order: number | null;
  readonly priority: number;
  readonly weight: number;
  readonly vendorModel: string | null;
  readonly protocol: string | null;
  readonly reason: string;
}

type Entry = ChannelsFile['channels'][string];

function shareOf(candidate: Candidate, tier: readonly Candidate[]): string {
  if (tier.length === 1) return 'alone in its tier';
  const total = tier.reduce((sum, { weight }) => sum + weight, 0);
  if (candidate.weight === 0) return 'weight 0: only when the others of its tier fail';
  return `weight ${candidate.weight} of ${total} in its tier: ${Math.round((100 * candidate.weight) / total)} % of the requests`;
}

function reasonOut(configuration: Configuration, name: string, entry: Entry, offer: Offer): string {
  const { model, group } = offer;
  if (!Object.hasOwn(entry.models, model.name)) return `does not serve ${model.name}`;
  if (!entry.groups.includes(group.name)) return `does not serve the group ${group.name}`;
  const start = `the channel ${name} is left out: `;
  const notice = configuration.notices.find((line) => line.startsWith(start));
  return notice === undefined ? 'speaks no protocol that serves this route' : `left out: ${notice.slice(start.length)}`;
}

/** Those that would be tried first, in their order; then the others as the file has them. */
export function explainChannels(
  configuration: Configuration,
  offer: Offer,
  { targets }: CompiledRoute,
): ExplainedChannel[] {
  const entries = (configuration.sources.channels.value as ChannelsFile).channels;
  const tried = offer.tiers.flatMap((tier, index) =>
    tier.flatMap((candidate) => {
      const target = targets.get(candidate);
      return target === undefined ? [] : [explainTried(target, candidate, tier, index)];
    }),
  );
  const names = new Set(tried.map(({ channel }) => channel));
  const others = Object.entries(entries)
    .filter(([name]) => !names.has(name))
    .map(([name, entry]) => explainOther(configuration, name, entry, offer));
  return [...tried, ...others];
}

function explainTried(
  target: Target,
  candidate: Candidate,
  tier: readonly Candidate[],
  index: number,
): ExplainedChannel {
  const { name, priority } = candidate.channel;
  const place = index === 0 ? 'tried first' : `tried when tier ${index} has failed or rests`;
  return {
    channel: name,
    order: index + 1,
    priority,
    weight: candidate.weight,
    vendorModel: candidate.vendorModel,
    protocol: target.protocol,
    reason: `${place}; ${shareOf(candidate, tier)}`,
  };
}

function explainOther(configuration: Configuration, name: string, entry: Entry, offer: Offer): ExplainedChannel {
  return {
    channel: name,
    order: null,
    priority: entry.priority,
    weight: entry.weight,
    vendorModel: entry.models[offer.model.name] ?? null,
    protocol: null,
    reason: reasonOut(configuration, name, entry, offer),
  };
}

/** The channel whose request is shown: the one named, or the most likely of the first tier. */
export function pickTarget(offer: Offer, { targets }: CompiledRoute, name: string | undefined): Target | null {
  const candidates = offer.tiers.flat();
  const named = candidates.find(({ channel }) => channel.name === name);
  const likely = [...(offer.tiers[0] ?? [])].sort((left, right) => right.weight - left.weight)[0];
  const candidate = name === undefined ? likely : named;
  return candidate === undefined ? null : (targets.get(candidate) ?? null);
}
