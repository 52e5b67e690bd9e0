/**
 * The health of a channel and of each of its credentials, kept across reloads by name. After some failures in a row a
 * channel rests, longer each time; then one probe is let through, and its outcome decides (half-open).
 */
import type { Channel } from '../contract/model.ts';
import type { Failure } from './failure.ts';

/** One thing that can rest: a channel, or one credential of it. */
class Breaker {
  private failures = 0;
  private rest = 0;
  private probing = false;
  /** ms since 1970 until which it rests. */
  until = 0;

  ready(now: number): boolean {
    return now >= this.until && !(this.probing && this.rest > 0);
  }

  /** A request goes out. While half-open it is the one probe. */
  enter(): void {
    if (this.rest > 0) this.probing = true;
  }

  /** The request ended without a verdict (the client left). */
  leave(): void {
    this.probing = false;
  }

  /** An answer has begun: no more rest. Whether it comes to its end is not known yet, so earlier failures still count. */
  begin(): void {
    this.rest = 0;
    this.probing = false;
    this.until = 0;
  }

  succeed(): void {
    this.failures = 0;
    this.begin();
  }

  /** Rests at once when `atOnce`, else after `threshold` failures in a row; a failed probe rests twice as long. */
  fail(now: number, threshold: number, first: number, longest: number, atLeast: number, atOnce: boolean): boolean {
    this.failures++;
    const wasProbe = this.probing;
    this.probing = false;
    if (!atOnce && !wasProbe && this.failures < threshold) return false;
    this.rest = Math.min(longest, wasProbe ? this.rest * 2 : Math.max(first, this.rest));
    this.until = Math.max(this.until, now + Math.max(this.rest, atLeast));
    return true;
  }
}

export class ChannelHealth {
  private readonly channel = new Breaker();
  private readonly credentials = new Map<string, Breaker>();
  private turn = 0;

  /** Whether `pick` would find something. */
  ready(channel: Channel, now: number): boolean {
    if (!this.channel.ready(now)) return false;
    for (const secret of channel.credentials) if (this.credential(secret).ready(now)) return true;
    return false;
  }

  /** The same for a request that only one credential can serve. */
  readyFor(channel: Channel, index: number, now: number): boolean {
    return this.channel.ready(now) && this.credential(channel.credentials[index]!).ready(now);
  }

  /** The index of the credential to use now, or −1 when the channel or all its credentials rest. */
  pick(channel: Channel, now: number): number {
    if (!this.channel.ready(now)) return -1;
    const count = channel.credentials.length;
    for (let step = 0; step < count; step++) {
      const index = (this.turn + step) % count;
      if (this.credential(channel.credentials[index]!).ready(now)) {
        this.turn = (index + 1) % count;
        return index;
      }
    }
    return -1;
  }

  enter(channel: Channel, index: number): void {
    this.channel.enter();
    this.credential(channel.credentials[index]!).enter();
  }

  leave(channel: Channel, index: number): void {
    this.channel.leave();
    this.credential(channel.credentials[index]!).leave();
  }

  begin(channel: Channel, index: number): void {
    this.channel.begin();
    this.credential(channel.credentials[index]!).begin();
  }

  succeed(channel: Channel, index: number): void {
    this.channel.succeed();
    this.credential(channel.credentials[index]!).succeed();
  }

  /** Books a failure; answers what rests now, for the log. What is the client's own doing counts as health. */
  fail(channel: Channel, index: number, failure: Failure, now: number): 'channel' | 'credential' | null {
    if (failure.spares) {
      this.leave(channel, index);
      return null;
    }
    const { failures, first, longest } = channel.cooldown;
    const credential = this.credential(channel.credentials[index]!);
    if (failure.reason === 'credential' || failure.status === 429) {
      this.channel.leave();
      credential.fail(now, 1, first, longest, (failure.retryAfter ?? 0) * 1000, true);
      return 'credential';
    }
    if (isClientFault(failure)) {
      this.succeed(channel, index);
      return null;
    }
    credential.leave();
    const wait = (failure.retryAfter ?? 0) * 1000;
    return this.channel.fail(now, failures, first, longest, wait, wait > 0) ? 'channel' : null;
  }

  /** ms since 1970 when something of this channel is ready again, or that one credential of it. */
  readyAt(channel: Channel, index?: number): number {
    const asked = index === undefined ? channel.credentials : [channel.credentials[index]!];
    const soonest = Math.min(...asked.map((secret) => this.credential(secret).until));
    return Math.max(this.channel.until, soonest);
  }

  private credential(secret: string): Breaker {
    let breaker = this.credentials.get(secret);
    if (breaker === undefined) {
      breaker = new Breaker();
      this.credentials.set(secret, breaker);
    }
    return breaker;
  }
}

/** A prompt that asks for no picture gets none: the vendor answered well. */
function isClientFault({ reason, status }: Failure): boolean {
  return reason === 'moderation' || reason === 'no-image' || (reason === 'status' && status < 500);
}

/** Health by the channel's name and where it leads; outlives every snapshot. Who corrects an address begins anew. */
export class HealthBook {
  private readonly channels = new Map<string, ChannelHealth>();

  of({ name, origin, basePath }: Channel): ChannelHealth {
    const key = `${name} ${origin}${basePath}`;
    let health = this.channels.get(key);
    if (health === undefined) {
      health = new ChannelHealth();
      this.channels.set(key, health);
    }
    return health;
  }
}
