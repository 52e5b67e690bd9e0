/** Rates and concurrency in this process. Nothing here outlives it. */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import type { ConcurrencyCounter, Counters, RateCounter } from '../contract/ports.ts';

/** Beyond so many names the one that was unused for longest is forgotten: a rate begins full again. */
const maximumNames = 100_000;
/** By size: `max` would lay out all places at once, 10 ms of each start. */
const bounds = { maxSize: maximumNames, sizeCalculation: () => 1 };
const minute = 60_000;

/** Counters in memory; `now` is ms of a clock that never goes back. */
export function createCounters(now: () => number = () => performance.now()): Counters {
  const rates = new LRUCache<string, TokenBucket>(bounds);
  const gates = new LRUCache<string, Gate>(bounds);
  /** How many are inside, by name; not there: none. What counts something is never forgotten. */
  const inside = new Map<string, number>();
  return {
    rate(name, perMinute) {
      const known = rates.get(name);
      if (known !== undefined) return known.limitTo(perMinute);
      const bucket = new TokenBucket(perMinute, now);
      rates.set(name, bucket);
      return bucket;
    },
    concurrency(name, maximum) {
      const known = gates.get(name);
      if (known !== undefined) return known.limitTo(maximum);
      const gate = new Gate(inside, name, maximum);
      gates.set(name, gate);
      return gate;
    },
  };
}

/** Full at the start; refills evenly, a whole fill per minute. */
class TokenBucket implements RateCounter {
  readonly #now: () => number;
  #perMinute: number;
  /** Units × ms of a minute: whole numbers where the clock's are, so that nothing is lost to rounding. */
  #level: number;
  #time: number;

  constructor(perMinute: number, now: () => number) {
    this.#now = now;
    this.#perMinute = perMinute;
    this.#level = perMinute * minute;
    this.#time = now();
  }

  limitTo(perMinute: number): this {
    if (perMinute === this.#perMinute) return this;
    this.#refill();
    this.#level += (perMinute - this.#perMinute) * minute;
    this.#perMinute = perMinute;
    return this;
  }

  /** More than a minute's amount passes when the bucket is full and leaves it overdrawn: it would never pass else. */
  take(amount: number): number {
    this.#refill();
    const needed = Math.min(amount, this.#perMinute) * minute;
    if (this.#level >= needed) {
      this.#level -= amount * minute;
      return 0;
    }
    return Math.max(1, Math.ceil((needed - this.#level) / this.#perMinute));
  }

  add(amount: number): void {
    this.#refill();
    this.#level -= amount * minute;
  }

  #refill(): void {
    const time = this.#now();
    this.#level = Math.min(this.#perMinute * minute, this.#level + (time - this.#time) * this.#perMinute);
    this.#time = time;
  }
}

class Gate implements ConcurrencyCounter {
  readonly #inside: Map<string, number>;
  readonly #name: string;
  #maximum: number;

  constructor(inside: Map<string, number>, name: string, maximum: number) {
    this.#inside = inside;
    this.#name = name;
    this.#maximum = maximum;
  }

  limitTo(maximum: number): this {
    this.#maximum = maximum;
    return this;
  }

  enter(): boolean {
    const count = this.#inside.get(this.#name) ?? 0;
    if (count >= this.#maximum) return false;
    this.#inside.set(this.#name, count + 1);
    return true;
  }

  leave(): void {
    const count = this.#inside.get(this.#name);
    if (count === undefined) throw new Error(`The counter ${this.#name} was left more often than entered.`);
    if (count === 1) this.#inside.delete(this.#name);
    else this.#inside.set(this.#name, count - 1);
  }
}
