/** Options that several commands share, read the same way everywhere. */
import { type Command, InvalidArgumentError } from 'commander';
import { parseDate } from '../config/units.ts';

export interface ConfigOption {
  readonly config: string;
}

export interface DataOption {
  readonly data?: string;
}

export interface JsonOption {
  readonly json?: true;
}

export const withConfig = (command: Command): Command =>
  command.option('-c, --config <dir>', 'folder of gateway.yaml, channels.yaml, models.yaml and routes.yaml', '.');

export const withData = (command: Command, otherwise = 'dataDirectory of gateway.yaml'): Command =>
  command.option('-d, --data <dir>', `data directory (default: ${otherwise})`);

export const withJson = (command: Command): Command => command.option('--json', 'print JSON');

/** Lines of `Examples:` below the options. */
export const withExamples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535; 0 takes any free one.');
}

/** A whole number from 1 on. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}

const timePattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?(Z|[+-]\d{2}:\d{2})?$/;

/** `2027-01-31` or with a time, which is UTC unless it says otherwise; ms since 1970. */
export function parseTime(text: string): number {
  const [, day = '', clock = '00:00', zone = 'Z'] = timePattern.exec(text) ?? [];
  const time = Date.parse(`${day}T${clock}${zone}`);
  if (Number.isNaN(time) || parseDate(day) === null)
    throw new InvalidArgumentError('A time looks like 2027-01-31 or 2027-01-31T12:00:00Z (UTC).');
  return time;
}
