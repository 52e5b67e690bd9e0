/** Groups with what each may do: model × group → rate and the channels that serve it. */
import type { ChannelsFile } from '../../schemas/types/channels.ts';
import type { Candidate, Group, Model, Offer } from '../contract/model.ts';
import type { ChannelSeat } from './link-channels.ts';
import { linkLimits } from './link-models.ts';
import { compileRate } from './rate.ts';
import type { SourceFile } from './read.ts';

/** Highest priority first; within a tier the order of the file. */
function tiersOf(candidates: readonly Candidate[]): Candidate[][] {
  const tiers = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const { priority } = candidate.channel;
    tiers.set(priority, [...(tiers.get(priority) ?? []), candidate]);
  }
  return [...tiers].sort(([left], [right]) => right - left).map(([, tier]) => tier);
}

function candidatesOf(seats: readonly ChannelSeat[], model: string): Candidate[] {
  return seats.flatMap(({ channel }) => {
    const vendorModel = channel?.models.get(model);
    return channel === null || vendorModel === undefined ? [] : [{ channel, vendorModel, weight: channel.weight }];
  });
}

function linkOffers(group: Group, models: ReadonlyMap<string, Model>, seats: readonly ChannelSeat[]): Offer[] {
  const seated = seats.filter((seat) => seat.groups.includes(group.name));
  return [...models.values()]
    .filter((model) => seated.some((seat) => seat.models.includes(model.name)))
    .map((model) => ({
      model,
      group,
      rate: compileRate(model.price, group.multiplier),
      tiers: tiersOf(candidatesOf(seated, model.name)),
    }));
}

export function linkGroups(source: SourceFile, models: ReadonlyMap<string, Model>, seats: readonly ChannelSeat[]) {
  const groups = new Map<string, Group>();
  for (const [name, { multiplier, limits }] of Object.entries((source.value as ChannelsFile).groups)) {
    const offers = new Map<string, Offer>();
    const group: Group = { name, multiplier, limits: linkLimits(limits), offers };
    for (const offer of linkOffers(group, models, seats)) offers.set(offer.model.name, offer);
    groups.set(name, group);
  }
  return groups;
}

/** What is allowed, but probably not meant. */
export function unservedNotices(groups: ReadonlyMap<string, Group>, models: ReadonlyMap<string, Model>): string[] {
  const isServed = (offer: Offer): boolean => offer.tiers.length > 0;
  const offers = [...groups.values()].flatMap((group) => [...group.offers.values()]).filter(isServed);
  const idle = [...groups.values()].filter((group) => ![...group.offers.values()].some(isServed));
  const unserved = [...models.keys()].filter((name) => !offers.some((offer) => offer.model.name === name));
  return [
    ...idle.map((group) => `no channel serves the group ${group.name}`),
    ...unserved.map((name) => `no channel serves the model ${name}`),
  ];
}
