/** The process's log: pino, one JSON line each, secrets cut out. */
import { pino } from 'pino';
import type { Log } from '../contract/values.ts';

export interface LogSettings {
  readonly level: string;
  readonly format: 'json' | 'pretty';
}

const secretPaths = [
  'authorization',
  'apiKey',
  'api_key',
  'secret',
  'credential',
  'password',
  'headers.authorization',
  'headers["x-api-key"]',
  'headers["x-goog-api-key"]',
];
const secretPattern = /\b(?:sk-|xai-|jina_)[-_A-Za-z0-9]{12,}|\bAIza[-_A-Za-z0-9]{20,}/g;

/** Credentials that slipped into a message or a stack. */
const scrub = (text: string) => text.replace(secretPattern, '[redacted]');

const levelNames: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** `12:03:44 WARN  a sentence  {"field":1}` for people at a terminal. */
function readable(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as { level: number; time: number; msg: string };
  const rest = Object.keys(fields).length === 0 ? '' : `  ${JSON.stringify(fields)}`;
  return `${new Date(time).toISOString().slice(11, 19)} ${(levelNames[level] ?? String(level)).padEnd(5)} ${msg}${rest}\n`;
}

/** Lines go to standard error: standard output belongs to what a command prints. */
export function createLog({ level, format }: LogSettings): Log & { level: string } {
  const destination = pino.destination({ fd: 2, sync: true });
  const write = (line: string) => destination.write(scrub(format === 'pretty' ? readable(line) : line));
  return pino({ level, base: null, redact: { paths: secretPaths, censor: '[redacted]' } }, { write });
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
