/** Accounts as the command line and the console see them: users, keys, credits, the usage log, the audit. */
import type { LimitSettings } from '../contract/ports.ts';
import type { UsageRow } from '../contract/usage.ts';

/** Rows of one page of the usage log. */
export const maximumUsageRows = 10_000;

export interface User {
  readonly id: number;
  readonly name: string;
  readonly email: string | null;
  /** Integer quota units, as the database has it; may be negative after an overdraft. */
  readonly balance: number;
  readonly disabled: boolean;
  readonly createdAt: number;
}

export interface StoredKey {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  /** `sk-AbCd...wXyz` */
  readonly prefix: string;
  readonly group: string;
  readonly models: readonly string[] | null;
  readonly quota: number | null;
  readonly quotaLeft: number | null;
  readonly disabled: boolean;
  readonly expiresAt: number | null;
  readonly limits: LimitSettings;
  readonly createdAt: number;
}

export interface NewKey {
  readonly userId: number;
  readonly name: string;
  readonly group: string;
  /** Public model names; null or absent: all of the group. */
  readonly models?: readonly string[] | null;
  /** What this key may spend in all; null or absent: what its user has. */
  readonly quota?: number | null;
  /** ms since 1970. */
  readonly expiresAt?: number | null;
  readonly limits?: Partial<LimitSettings>;
}

export interface UsageFilter {
  readonly userId?: number;
  readonly keyId?: number;
  readonly model?: string;
  /** ms since 1970, included. */
  readonly from?: number;
  /** ms since 1970, not included. */
  readonly to?: number;
  /** 1 to 10000. */
  readonly limit: number;
  /** The request id of the last row of the page before. */
  readonly before?: string;
}

export interface AuditedAccount {
  readonly userId: number;
  readonly name: string;
  readonly balance: number;
  readonly credits: number;
  readonly usage: number;
  /** balance − (credits − usage): 0 where all is well. */
  readonly difference: number;
}

export interface Audit {
  readonly ok: boolean;
  readonly accounts: readonly AuditedAccount[];
  /** One sentence each. */
  readonly faults: readonly string[];
  /** What the journal has and the database not yet, and so is in none of the sums: a gateway books it within moments, or when it starts. */
  readonly pending: { readonly requests: number; readonly quota: number };
}

/** All functions throw AccountsFault with a sentence for whoever asked. */
export interface Accounts {
  createUser(user: { readonly name: string; readonly email?: string | null }): Promise<User>;
  listUsers(): Promise<readonly User[]>;
  /** By number or by name. */
  findUser(nameOrId: string | number): Promise<User | null>;
  disableUser(userId: number, disabled: boolean): Promise<User>;
  /** Adds to the balance, a negative amount takes away. A reference counts once: the second time nothing is booked. */
  credit(
    userId: number,
    amount: number,
    reason: string,
    reference?: string,
  ): Promise<{ readonly balance: number; readonly booked: boolean }>;
  /** The secret is shown here and never again. */
  createKey(key: NewKey): Promise<{ readonly key: StoredKey; readonly secret: string }>;
  listKeys(userId?: number): Promise<readonly StoredKey[]>;
  /** Disables the one key with this number, displayed prefix or secret. */
  revokeKey(idOrPrefixOrSecret: string | number): Promise<StoredKey>;
  /** Newest first. */
  usage(filter: UsageFilter): Promise<readonly UsageRow[]>;
  /** Proves for every account: balance = credits − usage; and for every key with a quota: left = quota − usage. */
  audit(): Promise<Audit>;
}

/** What was asked of the accounts cannot be done; the message says why. */
export class AccountsFault extends Error {
  override readonly name = 'AccountsFault';
}
