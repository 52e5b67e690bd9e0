import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCounters } from '../../engine/counters/index.ts';

function clocked() {
  const clock = { time: 0 };
  return { clock, counters: createCounters(() => clock.time) };
}

describe('rates', () => {
  it('lets a minute’s amount pass at once, then one each as it refills', () => {
    const { clock, counters } = clocked();
    const rate = counters.rate('k', 60);
    for (let index = 0; index < 60; index++) expect(rate.take(1)).toBe(0);
    expect(rate.take(1)).toBe(1000);
    clock.time = 999;
    expect(rate.take(1)).toBe(1);
    clock.time = 1000;
    expect(rate.take(1)).toBe(0);
    expect(rate.take(2)).toBe(2000);
  });

  it('a bucket that rested for hours is full and no fuller', () => {
    const { clock, counters } = clocked();
    const rate = counters.rate('k', 60);
    expect(rate.take(60)).toBe(0);
    clock.time = 36_000_000;
    expect(rate.take(60)).toBe(0);
    expect(rate.take(1)).toBe(1000);
  });

  it('what is added afterwards overdraws, and later requests wait for it', () => {
    const { clock, counters } = clocked();
    const rate = counters.rate('k', 600);
    expect(rate.take(100)).toBe(0);
    rate.add(800);
    expect(rate.take(1)).toBe(30_100);
    clock.time = 30_100;
    expect(rate.take(1)).toBe(0);
  });

  it('an amount above the limit passes when the bucket is full and is paid back', () => {
    const { clock, counters } = clocked();
    const rate = counters.rate('k', 60);
    expect(rate.take(90)).toBe(0);
    expect(rate.take(90)).toBe(90_000);
    clock.time = 30_000;
    expect(rate.take(1)).toBe(1000);
  });

  it('keeps what was used when the limit changes', () => {
    const { counters } = clocked();
    const rate = counters.rate('k', 10);
    for (let index = 0; index < 10; index++) rate.take(1);
    expect(counters.rate('k', 12)).toBe(rate);
    expect([rate.take(1), rate.take(1)]).toEqual([0, 0]);
    expect(rate.take(1)).toBe(5000);
    expect(counters.rate('k', 5).take(1)).toBeGreaterThan(0);
    expect(counters.rate('other', 5).take(1)).toBe(0);
  });

  it('a wait that was told is enough, and in no stretch of time more passes than limit and refill allow', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.record({ after: fc.nat(20_000), amount: fc.integer({ min: 1, max: 50 }) }), { maxLength: 60 }),
        (perMinute, requests) => {
          const { clock, counters } = clocked();
          const rate = counters.rate('k', perMinute);
          const passed: { readonly at: number; readonly amount: number }[] = [];
          for (const { after, amount: wanted } of requests) {
            const amount = Math.min(wanted, perMinute);
            clock.time += after;
            const wait = rate.take(amount);
            if (wait > 0) {
              clock.time += wait;
              expect(rate.take(amount)).toBe(0);
            }
            passed.push({ at: clock.time, amount });
          }
          for (const [from, { at: start }] of passed.entries()) {
            let sum = 0;
            for (const { at, amount } of passed.slice(from)) {
              sum += amount;
              expect(sum).toBeLessThanOrEqual(perMinute + ((at - start) * perMinute) / 60_000 + 1e-6);
            }
          }
        },
      ),
    );
  });
});

describe('concurrency', () => {
  it('lets as many in as the maximum, and the next when one has left', () => {
    const { counters } = clocked();
    const counter = counters.concurrency('k', 2);
    expect([counter.enter(), counter.enter(), counter.enter()]).toEqual([true, true, false]);
    counter.leave();
    expect(counters.concurrency('k', 2).enter()).toBe(true);
  });

  it('counts go on over a change of the maximum and over any number of other names', () => {
    const { counters } = clocked();
    const counter = counters.concurrency('k', 1);
    counter.enter();
    for (let index = 0; index < 200_000; index++) counters.concurrency(`other-${index}`, 1);
    expect(counters.concurrency('k', 1).enter()).toBe(false);
    expect(counters.concurrency('k', 2).enter()).toBe(true);
    counter.leave();
    counter.leave();
    expect(() => counter.leave()).toThrow('more often');
  });

  it('two that got the counter before anybody entered share it', () => {
    const { counters } = clocked();
    const first = counters.concurrency('k', 1);
    const second = counters.concurrency('k', 1);
    expect(first.enter()).toBe(true);
    expect(second.enter()).toBe(false);
  });
});
