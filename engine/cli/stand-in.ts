/** Ports for commands that compile a configuration without serving it: nothing is opened, sent or stored. */
import type { Lent } from '../chain/lent.ts';
import type { Hold, KeyRecord } from '../contract/ports.ts';
import { createCounters } from '../counters/index.ts';
import { silentLog } from '../observe/log.ts';
import { HealthBook } from '../upstream/health.ts';
import { Pools } from '../upstream/pools.ts';

export interface StandIn {
  readonly lent: Lent;
  /** Units of every hold that was asked for. */
  readonly holds: number[];
}

const noPort = (): never => {
  throw new Error('This command reaches no vendor and stores nothing.');
};

const covers = ({ account, quotaLeft }: KeyRecord, amount: number): boolean =>
  account.available >= amount && (quotaLeft === null || quotaLeft >= amount);

/** Every secret belongs to `key`; holds are granted as far as the key's money goes, and written down. */
export function createStandIn(key: KeyRecord | null): StandIn {
  const holds: number[] = [];
  const hold = (holder: KeyRecord, amount: number): Hold | null => {
    holds.push(amount);
    return covers(holder, amount) ? { key: holder, amount } : null;
  };
  const host: Lent['host'] = {
    ledger: { findKey: () => key, hold, settle: async () => {} },
    counters: createCounters(),
    objects: { put: noPort, sign: noPort, delete: noPort, close: async () => {} },
    replays: { begin: () => ({ state: 'new' }), finish: () => {}, abandon: () => {} },
    log: silentLog,
    fetch: noPort,
    now: Date.now,
  };
  return { lent: { pools: new Pools(), health: new HealthBook(), log: silentLog, host }, holds };
}
