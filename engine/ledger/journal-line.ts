/** One line of the journal: `[1,"checksum",[values]]`. The checksum tells a torn line from a whole one. */
import { hash } from 'node:crypto';
import { type UsageValue, usageColumns } from './usage-columns.ts';

const format = '[1,"';
const checksumLength = 8;
const valuesAt = format.length + checksumLength + 2;

const checksum = (text: string) => hash('sha1', text, 'hex').slice(0, checksumLength);

export function encodeLine(values: readonly UsageValue[]): string {
  const text = JSON.stringify(values);
  return `${format}${checksum(text)}",${text}]\n`;
}

/** The values of a line without its line feed; null where it is torn or damaged. */
export function decodeLine(line: string): UsageValue[] | null {
  const text = line.slice(valuesAt, -1);
  if (line !== `${format}${checksum(text)}",${text}]`) return null;
  const values: unknown = JSON.parse(text);
  return Array.isArray(values) && values.length === usageColumns.length ? values : null;
}
