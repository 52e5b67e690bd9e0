/** The tables of `gateway.db`. Times are ms since 1970, amounts integer quota units, flags 0 or 1. */
import type { Generated, GeneratedAlways } from 'kysely';

export interface UsersTable {
  id: Generated<number>;
  name: string;
  email: string | null;
  password_hash: string | null;
  balance: number;
  disabled: number;
  created_at: number;
}

export interface KeysTable {
  id: Generated<number>;
  user_id: number;
  name: string;
  hash: string;
  prefix: string;
  group_name: string;
  /** JSON array of public model names; null: all of the group. */
  models: string | null;
  /** What the key was given; null: no quota of its own. */
  quota: number | null;
  quota_left: number | null;
  disabled: number;
  expires_at: number | null;
  /** JSON of LimitSettings. */
  limits: string | null;
  created_at: number;
}

export interface CreditsTable {
  id: Generated<number>;
  user_id: number;
  amount: number;
  reason: string;
  reference: string | null;
  created_at: number;
}

/** One column is stored for many: those that are generated are read out of `details` when somebody asks. */
export interface UsageTable {
  request_id: string;
  time: number;
  user_id: number;
  key_id: number;
  quota: number;
  /** The whole row as the journal has it, see `usage-columns.ts`. */
  details: string;
  endpoint: GeneratedAlways<string>;
  model: GeneratedAlways<string>;
  group_name: GeneratedAlways<string>;
  multiplier: GeneratedAlways<string>;
  channel: GeneratedAlways<string | null>;
  attempts: GeneratedAlways<number>;
  images: GeneratedAlways<number>;
  input_tokens: GeneratedAlways<number>;
  cached_input_tokens: GeneratedAlways<number>;
  cache_write_tokens: GeneratedAlways<number>;
  output_tokens: GeneratedAlways<number>;
  reasoning_tokens: GeneratedAlways<number>;
  status: GeneratedAlways<number>;
  outcome: GeneratedAlways<string>;
  code: GeneratedAlways<string | null>;
  usage_source: GeneratedAlways<string>;
  duration_ms: GeneratedAlways<number>;
  first_byte_ms: GeneratedAlways<number | null>;
}

export interface ReplaysTable {
  scope: string;
  body_hash: string;
  status: number;
  content_type: string;
  /** Name below `replays/`. */
  file: string;
  size: number;
  created_at: number;
}

export interface Tables {
  users: UsersTable;
  keys: KeysTable;
  credits: CreditsTable;
  usage: UsageTable;
  replays: ReplaysTable;
}
