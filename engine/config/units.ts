/** Durations and sizes as the YAML files write them. */
const milliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const bytes: Record<string, number> = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 };

function parse(text: string, units: Record<string, number>): number | null {
  const match = /^(\d{1,9})([a-z]{1,2})$/.exec(text);
  const unit = match === null ? undefined : units[match[2] as string];
  return match === null || unit === undefined ? null : Number(match[1]) * unit;
}

/** `250ms`, `30s`, `5m`, `1h`, `7d` → ms; null for anything else. */
export const parseDuration = (text: string): number | null => parse(text, milliseconds);

/** `512b`, `64kb`, `1mb`, `2gb` (powers of 1024) → bytes; null for anything else. */
export const parseSize = (text: string): number | null => parse(text, bytes);

/** `2026-01-31` → ms since 1970 (UTC); null for anything else, as 2026-02-30. */
export function parseDate(text: string): number | null {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? time : null;
}

/** A duration that the schema has already accepted. */
export function duration(text: string): number {
  const parsed = parseDuration(text);
  if (parsed === null) throw new TypeError(`not a duration: ${text}`);
  return parsed;
}

/** A size that the schema has already accepted. */
export function size(text: string): number {
  const parsed = parseSize(text);
  if (parsed === null) throw new TypeError(`not a size: ${text}`);
  return parsed;
}

function format(value: number, units: Record<string, number>): string {
  const fitting = Object.entries(units).filter(([, factor]) => value % factor === 0);
  const [unit, factor] = fitting.at(value === 0 ? 0 : -1) ?? ['', 1];
  return `${value / factor}${unit}`;
}

/** 300000 → `5m` */
export const formatDuration = (value: number): string => format(value, milliseconds);

/** 1048576 → `1mb` */
export const formatSize = (value: number): string => format(value, bytes);
