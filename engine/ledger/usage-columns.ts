/** A usage row as the journal and the database have it: its values in one fixed order. */
import type { UsageRow } from '../contract/usage.ts';
import type { UsageTable } from './tables.ts';

type Field = keyof UsageRow;
export type UsageValue = string | number | null;

/** Order of the journal's format 1; a change needs another format number. */
const columnOf = {
  requestId: 'request_id',
  time: 'time',
  userId: 'user_id',
  keyId: 'key_id',
  endpoint: 'endpoint',
  model: 'model',
  group: 'group_name',
  multiplier: 'multiplier',
  channel: 'channel',
  attempts: 'attempts',
  images: 'images',
  inputTokens: 'input_tokens',
  cachedInputTokens: 'cached_input_tokens',
  cacheWriteTokens: 'cache_write_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  quota: 'quota',
  status: 'status',
  outcome: 'outcome',
  code: 'code',
  usageSource: 'usage_source',
  durationMs: 'duration_ms',
  firstByteMs: 'first_byte_ms',
} as const satisfies Record<Field, keyof UsageTable>;

const fields = Object.keys(columnOf) as Field[];
export const usageColumns: readonly (keyof UsageTable)[] = Object.values(columnOf);
const nullable: ReadonlySet<Field> = new Set<Field>(['channel', 'code', 'firstByteMs']);
const texts: ReadonlySet<Field> = new Set<Field>([
  'requestId',
  'endpoint',
  'model',
  'group',
  'multiplier',
  'channel',
  'outcome',
  'code',
  'usageSource',
]);
const integers: ReadonlySet<Field> = new Set<Field>(['userId', 'keyId', 'quota']);

/** Characters that the usage log keeps of a text: a client may have named its model by a whole book. */
const longest = 300;

interface FieldRule {
  readonly field: Field;
  readonly nullable: boolean;
  readonly text: boolean;
  readonly integer: boolean;
}

const rules: readonly FieldRule[] = fields.map((field) => ({
  field,
  nullable: nullable.has(field),
  text: texts.has(field),
  integer: integers.has(field),
}));

/** The row's values in the order of `usageColumns`. Throws TypeError on what the database would refuse later. */
export function valuesOf(row: UsageRow): UsageValue[] {
  const values = new Array<UsageValue>(rules.length);
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!;
    const value = row[rule.field];
    if (!fits(rule, value)) throw new TypeError(`The usage row's ${rule.field} is ${String(value)}.`);
    values[index] = typeof value === 'string' && value.length > longest ? value.slice(0, longest) : value;
  }
  if (row.quota < 0) throw new TypeError(`The usage row's quota is ${row.quota}.`);
  return values;
}

function fits(rule: FieldRule, value: UsageValue): boolean {
  if (value === null) return rule.nullable;
  if (rule.text) return typeof value === 'string';
  return rule.integer ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** The row of a record that was selected from the usage table. */
export function usageRowOf(record: UsageTable): UsageRow {
  return Object.fromEntries(fields.map((field) => [field, record[columnOf[field]]])) as unknown as UsageRow;
}
