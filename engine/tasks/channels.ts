/** Where a task is asked for: its own channel and credential, in the configuration that serves now. */
import { createHash } from 'node:crypto';
import { compileTransport } from '../chain/target.ts';
import type { Channel } from '../contract/model.ts';
import type { VideoProtocol } from '../contract/video.ts';
import type { Registry } from '../plugin.ts';
import type { HealthBook } from '../upstream/health.ts';
import type { ConnectionList, Pools } from '../upstream/pools.ts';
import type { TaskPlace } from './task.ts';

export interface TaskTarget {
  readonly channel: Channel;
  readonly codec: NonNullable<VideoProtocol['vendor']>;
  readonly connections: ConnectionList;
  readonly headers: readonly string[];
  /** Full paths, the task's id filled in; `content` only where the vendor has one. */
  readonly poll: string;
  readonly content: string | null;
}

/** Tells a credential again without holding it. */
export const credentialMark = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url').slice(0, 16);

/** The id's own slashes stay: an operation's name is a path. */
const withId = (path: string, id: string): string =>
  path.replace('{id}', () => id.split('/').map(encodeURIComponent).join('/'));

export class TaskChannels {
  private readonly pools: Pools;
  private readonly health: HealthBook;
  private channels: ReadonlyMap<string, Channel> = new Map();
  private protocols: ReadonlyMap<string, VideoProtocol> = new Map();

  constructor(pools: Pools, health: HealthBook) {
    this.pools = pools;
    this.health = health;
  }

  /** To be called with each configuration that takes over. */
  use(channels: readonly Channel[], registry: Registry): void {
    this.channels = new Map(channels.map((channel) => [channel.name, channel]));
    const videos = registry.protocols.filter((one) => one.kind === 'video');
    this.protocols = new Map(videos.map((one) => [one.name, one]));
  }

  /** Null where the configuration has the channel no more, or it speaks another language now. */
  find(place: TaskPlace): TaskTarget | null {
    const channel = this.channels.get(place.channel);
    const codec = this.protocols.get(place.protocol)?.vendor;
    if (channel === undefined || codec === undefined || channel.vendor.speaks[place.protocol]?.poll === undefined)
      return null;
    const candidate = { channel, vendorModel: place.vendorModel, weight: 1 };
    const health = this.health.of(channel);
    const { paths, headers, connections } = compileTransport(candidate, place.protocol, this.pools, health);
    return {
      channel,
      codec,
      connections,
      headers: headers[credentialIndex(channel, place)]!,
      poll: withId(paths.poll!, place.vendorId),
      content: paths.content === undefined ? null : withId(paths.content, place.vendorId),
    };
  }
}

/** A credential that moved is found again; one that was replaced is taken for the same account's. */
function credentialIndex({ credentials }: Channel, { credential, credentialIndex: index }: TaskPlace): number {
  const found = credentials.findIndex((secret) => credentialMark(secret) === credential);
  return found >= 0 ? found : Math.min(index, credentials.length - 1);
}
