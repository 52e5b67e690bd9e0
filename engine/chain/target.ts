/** One candidate of one route, compiled: where to send, what to send, how to read the answer. */
import type { ChatProtocol, TokenCount } from '../contract/chat.ts';
import type { ImageProtocol } from '../contract/image.ts';
import type { Candidate, Channel } from '../contract/model.ts';
import type { RealtimeProtocol } from '../contract/realtime.ts';
import type { VideoProtocol } from '../contract/video.ts';
import type { ParameterOverrides } from '../contract/wire.ts';
import type { ChannelHealth } from '../upstream/health.ts';
import type { ConnectionList, Pools } from '../upstream/pools.ts';
import type { ChatBridge } from './bridge.ts';
import type { DirectBridge } from './direct/bridge.ts';

export interface Target {
  readonly candidate: Candidate;
  readonly channel: Channel;
  readonly vendorModel: string;
  readonly connections: ConnectionList;
  readonly health: ChannelHealth;
  /** action (`whole`, `stream`, `generate`, `edit`) → full path */
  readonly paths: Readonly<Record<string, string>>;
  /** One flat header list per credential, without `content-type`. */
  readonly headers: readonly (readonly string[])[];
  readonly overrides: ParameterOverrides | null;
  readonly protocol: string;
  /** Headers of the client that the vendor gets. */
  readonly passedHeaders: readonly string[];
  /** Of these one is there: what the route's operation needs. */
  readonly bridge: ChatBridge | null;
  readonly images: NonNullable<ImageProtocol['vendor']> | null;
  readonly count: { readonly vendor: ChatProtocol; readonly codec: TokenCount } | null;
  readonly direct: DirectBridge | null;
  readonly realtime: NonNullable<RealtimeProtocol['vendor']> | null;
  readonly videos: NonNullable<VideoProtocol['vendor']> | null;
}

/** What each kind of target leaves out. */
export const emptyTarget = {
  passedHeaders: [],
  bridge: null,
  images: null,
  count: null,
  realtime: null,
  direct: null,
  videos: null,
};

const userAgent = 'unified-model-gateway/0.1';

/** The vendor's model name as one path segment: names may hold `/` and `:`. */
function pathFor(basePath: string, pattern: string, vendorModel: string): string {
  return basePath + pattern.replaceAll('{model}', encodeURIComponent(vendorModel));
}

/** The channel's own headers over the vendor's over the gateway's: each name once. */
function headersOf({ vendor, headers }: Channel, secret: string): string[] {
  const { header, value } = vendor.auth;
  // As a function: a `$` in a secret is no pattern.
  const auth = { [header]: value.replace('{credential}', () => secret) };
  const layers = [{ 'user-agent': userAgent }, vendor.headers ?? {}, auth, headers];
  const laid = new Map<string, string>();
  for (const layer of layers) for (const [name, text] of Object.entries(layer)) laid.set(name.toLowerCase(), text);
  return [...laid].flat();
}

/** Everything of a target that does not depend on the client's protocol. */
export function compileTransport(candidate: Candidate, protocol: string, pools: Pools, health: ChannelHealth) {
  const { channel, vendorModel } = candidate;
  const actions = channel.vendor.speaks[protocol]!;
  const paths: Record<string, string> = {};
  for (const [action, pattern] of Object.entries(actions))
    paths[action] = pathFor(channel.basePath, pattern, vendorModel);
  const { set, remove } = channel.parameters;
  const hasOverrides = Object.keys(set).length > 0 || remove.length > 0;
  return {
    candidate,
    channel,
    vendorModel,
    protocol,
    health,
    paths,
    connections: pools.list({ origin: channel.origin, connectTimeout: channel.timeouts.connect }),
    headers: channel.credentials.map((secret) => headersOf(channel, secret)),
    overrides: hasOverrides ? channel.parameters : null,
  };
}
