/** A host without a gateway: money, objects and replays in memory, a clock that the test turns. */
import { createCounters } from '../../../engine/counters/index.ts';
import {
  GatewayError,
  type Group,
  type Host,
  type KeyRecord,
  type Ledger,
  type Log,
  type Objects,
  type ReplayAnswer,
  type Replays,
  type UsageRow,
} from '../../../engine/plugin.ts';

export interface HostGiven {
  /** Whose secret any secret is; null: no key is known. */
  readonly key?: KeyRecord | null;
  readonly groups?: readonly Group[];
  /** ms since 1970 at the start; default 2026-01-01, noon UTC. */
  readonly now?: number;
  /** What `fetch` finds, by URL. */
  readonly pages?: Readonly<Record<string, { readonly bytes: Buffer; readonly contentType: string }>>;
}

export interface LogEntry {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

export interface TestHost extends Host {
  readonly entries: readonly LogEntry[];
  /** Usage rows that were settled. */
  readonly rows: readonly UsageRow[];
  /** Stored objects by key. */
  readonly stored: ReadonlyMap<string, Buffer>;
  /** Turns the clock of `now` and of the counters. */
  advance(milliseconds: number): void;
}

function createLedger(key: KeyRecord | null, rows: UsageRow[]): Ledger {
  let held = 0;
  return {
    findKey: () => key,
    hold(holder, amount) {
      if (amount > holder.account.available - held || amount > (holder.quotaLeft ?? Number.POSITIVE_INFINITY))
        return null;
      held += amount;
      return { key: holder, amount };
    },
    async settle(hold, row) {
      held -= hold?.amount ?? 0;
      rows.push(row);
    },
  };
}

function createObjects(stored: Map<string, Buffer>): Objects {
  return {
    async put({ body, contentType, prefix }) {
      const chunks: Buffer[] = [];
      for await (const chunk of Buffer.isBuffer(body) ? [body] : body) chunks.push(Buffer.from(chunk as Uint8Array));
      const bytes = Buffer.concat(chunks);
      const key = `${prefix}/${stored.size + 1}`;
      stored.set(key, bytes);
      return { key, length: bytes.length, contentType };
    },
    sign: async (key, seconds = 3600) => `https://gateway.test/files/${key}?lifetime=${seconds}`,
    async delete(key) {
      stored.delete(key);
    },
    async close() {},
  };
}

function createReplays(): Replays {
  const running = new Map<string, string>();
  const done = new Map<string, ReplayAnswer & { readonly bodyHash: string }>();
  return {
    begin(scope, bodyHash) {
      const answer = done.get(scope);
      const known = answer?.bodyHash ?? running.get(scope);
      if (known !== undefined && known !== bodyHash) return { state: 'conflict' };
      if (answer !== undefined) return { state: 'done', ...answer };
      if (known !== undefined) return { state: 'running' };
      running.set(scope, bodyHash);
      return { state: 'new' };
    },
    finish(scope, answer) {
      done.set(scope, { ...answer, bodyHash: running.get(scope) ?? '' });
      running.delete(scope);
    },
    abandon: (scope) => void running.delete(scope),
  };
}

function createLog(entries: LogEntry[]): Log {
  const at = (level: keyof Log) => (fields: object, message: string) => void entries.push({ level, fields, message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export function createHost(given: HostGiven = {}): TestHost {
  let time = given.now ?? Date.UTC(2026, 0, 1, 12);
  let slots = 0;
  const entries: LogEntry[] = [];
  const rows: UsageRow[] = [];
  const stored = new Map<string, Buffer>();
  return {
    entries,
    rows,
    stored,
    advance(milliseconds) {
      time += milliseconds;
    },
    ledger: createLedger(given.key ?? null, rows),
    counters: createCounters(() => time),
    objects: createObjects(stored),
    replays: createReplays(),
    log: createLog(entries),
    slot<T>() {
      const index = slots++;
      return {
        get: (exchange) => exchange.slots[index] as T | undefined,
        set: (exchange, value: T) => {
          exchange.slots[index] = value;
        },
      };
    },
    group: (name) => given.groups?.find((group) => group.name === name) ?? null,
    async fetch(url) {
      const page = given.pages?.[url];
      if (page === undefined) throw new GatewayError('upstream_invalid_response', `Nothing is at ${url}.`);
      return page;
    },
    now: () => time,
  };
}
