/** The linked configuration: names have become objects, prices have become rates. Immutable once a snapshot holds it. */
import type { Operation } from './operations.ts';
import type { LimitSettings } from './ports.ts';
import type { Usage } from './usage.ts';
import type { JsonObject } from './values.ts';
import type { VendorDefinition } from './vendor.ts';

/** USD as decimal strings. Tokens are priced per million. A kind without a price falls back as the comment says. */
export interface Price {
  readonly image?: string;
  readonly request?: string;
  readonly second?: string;
  readonly character?: string;
  readonly searchUnit?: string;
  readonly input?: string;
  /** default: input */
  readonly cachedInput?: string;
  /** default: input */
  readonly cacheWrite?: string;
  readonly output?: string;
  /** default: output */
  readonly reasoning?: string;
  /** default: input */
  readonly audioInput?: string;
  /** default: output */
  readonly audioOutput?: string;
}

export interface Family {
  readonly name: string;
  /** Name of the normalizer plugin. */
  readonly normalizer: string;
  readonly operations: readonly Operation[];
}

export interface Model {
  readonly name: string;
  readonly family: Family;
  /** The family's rules with the model's own laid over them; validated against the normalizer's schema. */
  readonly rules: JsonObject;
  readonly price: Price;
  readonly operations: readonly Operation[];
  readonly limits: LimitSettings | null;
  readonly ownedBy: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Upper bound of output tokens, used to estimate a hold; null: unknown. */
  readonly maxOutputTokens: number | null;
}

/** Exact money for one model in one group: list price × group multiplier, compiled. */
export interface Rate {
  /** Integer quota units for this usage; exact rational arithmetic, rounded half up once at the end. */
  quota(usage: Usage): number;
}

export interface Channel {
  readonly name: string;
  readonly vendor: VendorDefinition;
  /** `https://host:port` */
  readonly origin: string;
  /** `/v1`, without a slash at its end. */
  readonly basePath: string;
  readonly credentials: readonly string[];
  /** public model name → the vendor's name */
  readonly models: ReadonlyMap<string, string>;
  readonly priority: number;
  readonly weight: number;
  /** Laid over the vendor's request headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly parameters: { readonly set: JsonObject; readonly remove: readonly string[] };
  readonly timeouts: { readonly connect: number; readonly firstByte: number; readonly idle: number };
  readonly onAbort: 'cancel' | 'drain' | 'finish';
  /** Cooldown in ms: after how many failures in a row, for how long at first, and at the most. */
  readonly cooldown: { readonly failures: number; readonly first: number; readonly longest: number };
  /** Protocols this account speaks; the vendor's own list where the file says nothing. */
  readonly protocols: readonly string[];
}

/** A channel that can serve one model. */
export interface Candidate {
  readonly channel: Channel;
  readonly vendorModel: string;
  readonly weight: number;
}

/** What a group may do with one model. */
export interface Offer {
  readonly model: Model;
  readonly group: Group;
  readonly rate: Rate;
  /** Highest priority first; empty when all channels were left out. */
  readonly tiers: readonly (readonly Candidate[])[];
}

export interface Group {
  readonly name: string;
  readonly multiplier: string;
  readonly limits: LimitSettings | null;
  /** public model name → offer */
  readonly offers: ReadonlyMap<string, Offer>;
}

/** What happens after a failed attempt: try the next channel, or tell the client. */
export type FailoverAction = 'next' | 'stop';

/** failure reason (`connect`, `timeout`, `429`, …) → action */
export type FailoverTable = Readonly<Record<string, FailoverAction>>;

/** One route as the file has it, names resolved. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** uWS pattern; `:name` parts are parameters, a closing `*` matches the rest. */
  readonly path: string;
  readonly operation: Operation;
  readonly protocol: string;
  readonly chain: string;
  /** Whole-request deadline in ms. */
  readonly timeout: number;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly failover: FailoverTable;
  /** The same for images that a chat route is asked for. */
  readonly imageFailover: FailoverTable;
}

/** A stage of a chain as the file names it. */
export interface Stage {
  readonly plugin: string;
  readonly options: JsonObject;
}
