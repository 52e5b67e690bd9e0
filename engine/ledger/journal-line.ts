/** One line of the journal: `[1,checksum,[values]]`. The checksum tells a torn line from a whole one. */
import { crc32 } from 'node:zlib';
import { type Charge, chargeOf } from './usage-columns.ts';

const start = /^\[1,\d+,/;

/** The line of a usage row's JSON. */
export function encodeLine(details: string): string {
  return `[1,${crc32(details)},${details}]\n`;
}

/** What a line without its line feed books; null where it is torn or damaged. */
export function decodeLine(line: string): Charge | null {
  const at = start.exec(line)?.[0].length ?? line.length;
  const details = line.slice(at, -1);
  return `${line}\n` === encodeLine(details) ? chargeOf(details) : null;
}
