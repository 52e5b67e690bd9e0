/** A usage row as the journal and the database have it: a JSON array of its values in one fixed order. */
import type { UsageRow } from '../contract/usage.ts';
import type { UsageView } from './tables.ts';

type Field = keyof UsageRow;

/** What is booked of a request: the columns that sums and look-ups need, and the whole row as text. */
export interface Charge {
  readonly requestId: string;
  readonly time: number;
  readonly userId: number;
  readonly keyId: number;
  readonly quota: number;
  /** The JSON array, as `detailsOf` makes it. */
  readonly details: string;
}

/**
 * Order of the journal's format 1, and of `charges.details`; a change needs another format number. The rare counts at the
 * end are left out where all of them are 0.
 */
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
  seconds: 'seconds',
  characters: 'characters',
  searchUnits: 'search_units',
  audioInputTokens: 'audio_input_tokens',
  audioOutputTokens: 'audio_output_tokens',
} as const satisfies Record<Field, keyof UsageView>;

const fields = Object.keys(columnOf) as Field[];
const positionOf = Object.fromEntries(fields.map((field, index) => [field, index])) as Record<Field, number>;

const rareFields = ['seconds', 'characters', 'searchUnits', 'audioInputTokens', 'audioOutputTokens'] as const;
const shortRow = fields.length - rareFields.length;

/** Characters that the usage log keeps of a text: a client may have named its model by a whole book. */
const longest = 300;

/** The row as JSON. Throws TypeError on what the database would refuse later. */
export function detailsOf(row: UsageRow): string {
  if (!Number.isSafeInteger(row.quota) || row.quota < 0) throw misfit('quota', row.quota);
  // Written out: `JSON.stringify` of the values takes nearly three times as long, a loop over the columns longer still.
  const channel = row.channel === null ? 'null' : name('channel', row.channel);
  const who = `${text('requestId', row.requestId)},${number('time', row.time)},${integer('userId', row.userId)},${integer('keyId', row.keyId)}`;
  const what = `${name('endpoint', row.endpoint)},${name('model', row.model)},${name('group', row.group)},${name('multiplier', row.multiplier)},${channel}`;
  const input = `${number('inputTokens', row.inputTokens)},${number('cachedInputTokens', row.cachedInputTokens)},${number('cacheWriteTokens', row.cacheWriteTokens)}`;
  const output = `${number('outputTokens', row.outputTokens)},${number('reasoningTokens', row.reasoningTokens)}`;
  const counts = `${number('attempts', row.attempts)},${number('images', row.images)},${input},${output},${row.quota}`;
  const code = row.code === null ? 'null' : name('code', row.code);
  const firstByte = row.firstByteMs === null ? 'null' : number('firstByteMs', row.firstByteMs);
  const end = `${number('status', row.status)},${name('outcome', row.outcome)},${code},${name('usageSource', row.usageSource)},${number('durationMs', row.durationMs)},${firstByte}`;
  return `[${who},${what},${counts},${end}${rareOf(row)}]`;
}

/** With the comma before them. */
function rareOf(row: UsageRow): string {
  if (row.seconds + row.characters + row.searchUnits + row.audioInputTokens + row.audioOutputTokens === 0) return '';
  return rareFields.map((field) => `,${number(field, row[field])}`).join('');
}

const misfit = (field: Field, value: unknown) => new TypeError(`The usage row's ${field} is ${String(value)}.`);

function number(field: Field, value: number): number {
  if (!Number.isFinite(value)) throw misfit(field, value);
  return value;
}

function integer(field: Field, value: number): number {
  if (!Number.isSafeInteger(value)) throw misfit(field, value);
  return value;
}

const plain = /^[ !#-[\]-~]*$/;

/** As JSON. Half a surrogate pair is no UTF-8: libsql ends the process when it reads one. A NUL would end the text. */
function text(field: Field, value: string): string {
  if (typeof value !== 'string') throw misfit(field, value);
  const kept = value.length > longest ? value.slice(0, longest) : value;
  if (plain.test(kept)) return `"${kept}"`;
  return JSON.stringify(Buffer.from(kept).toString().replaceAll('\0', '\uFFFD'));
}

/** Texts that come again and again, as JSON: what the configuration names, and a few words of our own. */
const names = new Map<string, string>();
const mostNames = 10_000;

function name(field: Field, value: string): string {
  const known = names.get(value);
  if (known !== undefined) return known;
  const quoted = text(field, value);
  if (names.size >= mostNames) names.clear();
  if (value.length <= longest) names.set(value, quoted);
  return quoted;
}

/** What a text of `detailsOf` books; null where it is none. */
export function chargeOf(details: string): Charge | null {
  const values: unknown = JSON.parse(details);
  if (!Array.isArray(values) || (values.length !== fields.length && values.length !== shortRow)) return null;
  return {
    requestId: values[positionOf.requestId],
    time: values[positionOf.time],
    userId: values[positionOf.userId],
    keyId: values[positionOf.keyId],
    quota: values[positionOf.quota],
    details,
  };
}

/** The row of a record that was selected from the usage table. */
export function usageRowOf(record: UsageView): UsageRow {
  return Object.fromEntries(fields.map((field) => [field, record[columnOf[field]]])) as unknown as UsageRow;
}
