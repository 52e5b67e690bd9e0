/** The three ports behind which state lives, each with an embedded and (later) a distributed engine. */
import type { Readable } from 'node:stream';
import type { UsageRow } from './usage.ts';
import type { MaybePromise } from './values.ts';

/** Limits that a key, a group or a model may carry; null: not limited. */
export interface LimitSettings {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

/** A user's money as the process sees it. All amounts are integer quota units (500000 = 1 USD). */
export interface Account {
  readonly userId: number;
  readonly disabled: boolean;
  /** What may still be held: balance − charges not yet in the database − holds. Kept current by the ledger. */
  readonly available: number;
}

/** An API key as the ledger knows it; the same object for every request while nothing changed. */
export interface KeyRecord {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  readonly group: string;
  /** Public model names the key is limited to; null: all of its group. */
  readonly models: ReadonlySet<string> | null;
  readonly disabled: boolean;
  /** ms since 1970; null: never. */
  readonly expiresAt: number | null;
  /** What is left of the key's own quota; null: no quota of its own. Kept current by the ledger. */
  readonly quotaLeft: number | null;
  readonly limits: LimitSettings;
  readonly account: Account;
}

/** An amount set aside for a running request. It ends in exactly one `settle`. */
export interface Hold {
  readonly key: KeyRecord;
  readonly amount: number;
}

/** The hot half of the ledger: what a request needs. */
export interface Ledger {
  /** The key with this SHA-256 (base64url) or null. Synchronous when it is in memory. */
  findKey(hash: string): MaybePromise<KeyRecord | null>;
  /**
   * Sets `amount` units aside; null when balance or key quota minus holds does not cover it, nor 0 of what is overdrawn.
   * Throws GatewayError `overloaded` while the journal cannot be written: what is done then could not be booked.
   */
  hold(key: KeyRecord, amount: number): Hold | null;
  /**
   * Ends a hold with what was really used (`row.quota`, 0: released) and appends the row to the journal. Resolves when the
   * journal has it: only then may the last byte of the reply go out. Rejects with GatewayError `internal_error`
   * where the journal cannot be written; then nothing is charged. A second call for the same hold throws.
   */
  settle(hold: Hold | null, row: UsageRow): Promise<void>;
}

/** One rate: how much may pass in a minute. */
export interface RateCounter {
  /** Takes `amount` if it fits; answers 0, or the ms after which it would fit. */
  take(amount: number): number;
  /** Books what is known only afterwards (tokens); may overdraw, later `take`s then wait. */
  add(amount: number): void;
}

/** How many run at the same time. */
export interface ConcurrencyCounter {
  /** False when the maximum is reached; each true needs one `leave`. */
  enter(): boolean;
  leave(): void;
}

export interface Counters {
  /** The counter of this name; the same one for the same name, its limit updated when it changed. */
  rate(name: string, perMinute: number): RateCounter;
  concurrency(name: string, maximum: number): ConcurrencyCounter;
}

export interface ObjectToStore {
  readonly body: Buffer | Readable;
  /** Bytes; required for a stream. */
  readonly length: number;
  /** `image/png`, … */
  readonly contentType: string;
  /** Folder-like first part of the key: `images`, `videos`. */
  readonly prefix: string;
  /** A key made by the engine, whose object is replaced if it is there; left out: a new one. */
  readonly key?: string;
}

export interface StoredObject {
  readonly key: string;
  readonly length: number;
  readonly contentType: string;
}

export interface Objects {
  /** Stores and verifies the length; throws GatewayError `storage_failed` on any fault, leaving nothing half-written. */
  put(object: ObjectToStore): Promise<StoredObject>;
  /** An absolute URL that anyone may GET until it expires. */
  sign(key: string, lifetimeSeconds?: number): Promise<string>;
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}

/** A stored first answer of an idempotent request. */
export interface ReplayAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export type ReplayState =
  | { readonly state: 'new' }
  | { readonly state: 'running' }
  | { readonly state: 'conflict' }
  | ({ readonly state: 'done' } & ReplayAnswer);

/** First answers by scope (a hash of key, route and the client's Idempotency-Key), kept for 24 hours. */
export interface Replays {
  /** `new`: the caller now owns the scope and ends it with `finish` or `abandon`. */
  begin(scope: string, bodyHash: string): MaybePromise<ReplayState>;
  finish(scope: string, answer: ReplayAnswer): MaybePromise<void>;
  abandon(scope: string): MaybePromise<void>;
}
