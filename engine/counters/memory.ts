/** Rates and concurrency in this process. Nothing here outlives it. */
import { LRUCache } from 'lru-cache';
import type { ConcurrencyCounter, Counters, RateCounter } from '../contract/ports.ts';

/** A rate that was forgotten begins full again; one that is in use is never the oldest of so many. */
const maximumRates = 100_000;
const minute = 60_000;

/** Counters in memory; `now` is ms of a clock that never goes back. */
export function createCounters(now: () => number = () => performance.now()): Counters {
  const rates = new LRUCache<string, TokenBucket>({ max: maximumRates });
  const running = new Map<string, Running>();
  return {
    rate(name, perMinute) {
      const known = rates.get(name);
      if (known !== undefined) return known.limitTo(perMinute);
      const bucket = new TokenBucket(perMinute, now);
      rates.set(name, bucket);
      return bucket;
    },
    concurrency(name, maximum) {
      const known = running.get(name);
      if (known !== undefined) return known.limitTo(maximum);
      return new Running(running, name, maximum);
    },
  };
}

/** Full at the start; refills evenly, a whole fill per minute. */
class TokenBucket implements RateCounter {
  readonly #now: () => number;
  #perMinute: number;
  #level: number;
  #time: number;

  constructor(perMinute: number, now: () => number) {
    this.#now = now;
    this.#perMinute = perMinute;
    this.#level = perMinute;
    this.#time = now();
  }

  limitTo(perMinute: number): this {
    if (perMinute === this.#perMinute) return this;
    this.#refill();
    this.#level += perMinute - this.#perMinute;
    this.#perMinute = perMinute;
    return this;
  }

  /** More than a minute's amount passes when the bucket is full and leaves it overdrawn: it would never pass else. */
  take(amount: number): number {
    this.#refill();
    const needed = Math.min(amount, this.#perMinute);
    if (this.#level >= needed) {
      this.#level -= amount;
      return 0;
    }
    return Math.max(1, Math.ceil(((needed - this.#level) * minute) / this.#perMinute));
  }

  add(amount: number): void {
    this.#refill();
    this.#level -= amount;
  }

  #refill(): void {
    const time = this.#now();
    const gained = ((time - this.#time) * this.#perMinute) / minute;
    this.#level = Math.min(this.#perMinute, this.#level + gained);
    this.#time = time;
  }
}

/** In the table only while it counts something, so that the table is as large as what runs. */
class Running implements ConcurrencyCounter {
  readonly #table: Map<string, Running>;
  readonly #name: string;
  #maximum: number;
  #count = 0;

  constructor(table: Map<string, Running>, name: string, maximum: number) {
    this.#table = table;
    this.#name = name;
    this.#maximum = maximum;
  }

  limitTo(maximum: number): this {
    this.#maximum = maximum;
    return this;
  }

  enter(): boolean {
    if (this.#count >= this.#maximum) return false;
    if (this.#count === 0) this.#table.set(this.#name, this);
    this.#count++;
    return true;
  }

  leave(): void {
    if (this.#count === 0) throw new Error(`The counter ${this.#name} was left more often than entered.`);
    this.#count--;
    if (this.#count === 0) this.#table.delete(this.#name);
  }
}
