/** The tables of `gateway.db`. Times are ms since 1970, amounts integer quota units, flags 0 or 1. */
import type { Generated } from 'kysely';

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

export interface ChargesTable {
  request_id: string;
  time: number;
  user_id: number;
  key_id: number;
  quota: number;
  /** The whole usage row as the journal has it, see `usage-columns.ts`. */
  details: string;
}

/** A view of the charges: to be read only. */
export interface UsageView {
  request_id: string;
  time: number;
  user_id: number;
  key_id: number;
  quota: number;
  endpoint: string;
  model: string;
  group_name: string;
  multiplier: string;
  channel: string | null;
  attempts: number;
  images: number;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  status: number;
  outcome: string;
  code: string | null;
  usage_source: string;
  duration_ms: number;
  first_byte_ms: number | null;
  seconds: number;
  characters: number;
  search_units: number;
  audio_input_tokens: number;
  audio_output_tokens: number;
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

/** Video tasks, see `engine/tasks/task.ts`. */
export interface TasksTable {
  id: string;
  request_id: string;
  user_id: number;
  key_id: number;
  endpoint: string;
  model: string;
  group_name: string;
  multiplier: string;
  /** JSON of Price. */
  price: string;
  held: number | null;
  prompt: string;
  seconds: number;
  size: string | null;
  created_at: number;
  deadline_at: number;
  /** JSON of TaskPlace. */
  place: string | null;
  status: string;
  progress: number;
  storage: string;
  ending: string | null;
  error_code: string | null;
  error_message: string | null;
  /** JSON of VideoFile. */
  file: string | null;
  used_seconds: number | null;
  used_measured: number;
  object_key: string | null;
  bytes: number | null;
  sha256: string | null;
  content_type: string | null;
  completed_at: number | null;
  open: number;
  due_at: number;
  failures: number;
  missing_since: number | null;
  lease_owner: string | null;
  /** 0: not leased. */
  lease_until: number;
}

/** Answers that later requests may name. */
export interface ResponsesTable {
  id: string;
  user_id: number;
  /** The vendor account that keeps it; null: it is kept here. */
  channel: string | null;
  /** Hash of the credential. */
  credential: string | null;
  /** 0: only its marks count. */
  named: number;
  previous_id: string | null;
  /** JSON array of items. */
  input: string | null;
  /** JSON. */
  response: string | null;
  /** Bytes, about. */
  size: number;
  expires_at: number;
}

/** What stood in an answer: ids of items, hashes of what only their maker can read. */
export interface ResponseMarksTable {
  mark: string;
  response_id: string;
}

export interface Tables {
  users: UsersTable;
  keys: KeysTable;
  credits: CreditsTable;
  charges: ChargesTable;
  usage: UsageView;
  replays: ReplaysTable;
  responses: ResponsesTable;
  response_marks: ResponseMarksTable;
  tasks: TasksTable;
}
