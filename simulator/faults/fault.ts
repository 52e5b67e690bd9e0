/** `safety`: refused as unsafe; `some`: only the first image of several; `prompt`: the prompt itself; `noimage`: nothing drawn. */
export type RefusalKind = 'safety' | 'some' | 'prompt' | 'noimage';

/** What goes wrong. Faults compose; `FAULTS` in `catalogue.ts` is the order in which they apply. */
export interface Fault {
  /** Milliseconds before the head of the answer. */
  latency?: number;
  /** The vendor's error answer with this status. */
  status?: number;
  /** Seconds to wait, in the vendor's own form; together with `status` or `error200`. */
  retryAfter?: number;
  /** The vendor's error body, but with status 200. */
  error200?: boolean;
  refuse?: RefusalKind;
  /** 200 with the right content type and no body. */
  empty200?: boolean;
  /** 200 with an HTML page. */
  wrongtype?: boolean;
  /** Leaves the token usage out. */
  nousage?: boolean;
  /** Accepts fields the vendor does not know, as many OpenAI-compatible servers do. */
  lenient?: boolean;
  /** Breaks the JSON: of event N of a stream, or of a whole body. */
  malformed?: number;
  /** An error event after N events of a stream, which then ends. */
  errorframe?: number;
  /** Which of the Responses API's three shapes that event has (default `failed`). */
  errorform?: 'failed' | 'flat' | 'nested';
  /** Leaves `[DONE]` out. */
  nodone?: boolean;
  /** Widens the first JSON value with N blanks, all in one line. */
  hugeline?: number;
  /** CRLF line ends in a stream. */
  crlf?: boolean;
  /** Destroys the connection after N events of a stream, or in the middle of a whole body. */
  cut?: number;
  /** Destroys the connection after N bytes of the body. */
  cutbody?: number;
  /** Falls silent after N events (of a whole body: after half of it) until the client leaves. */
  stall?: number;
  /** Milliseconds between events. */
  delay?: number;
  /** N bytes per write, `delay` (default 1) milliseconds apart. */
  trickle?: number;
  /** N bytes per write without a pause, through the middle of characters and events. */
  split?: number;
  /** Announces a content length that is longer or shorter than what is sent. */
  length?: 'longer' | 'shorter';
  /** RST instead of an answer: before the request's body is read, or after. */
  reset?: 'now' | 'read';
  /** Closes a socket with this code after `after` events. */
  close?: number;
  /** Events before `close` (default 0: before the first). */
  after?: number;
  /** Milliseconds between the pings a socket is sent. */
  ping?: number;
}

type Kind = 'number' | 'flag' | readonly string[];

/** How a fault is written; a number that is left out (`model!cut`) takes the default given here. */
const FAULT_KINDS: Record<keyof Fault, { kind: Kind; standard?: number }> = {
  latency: { kind: 'number' },
  status: { kind: 'number' },
  retryAfter: { kind: 'number' },
  error200: { kind: 'flag' },
  refuse: { kind: ['safety', 'some', 'prompt', 'noimage'] },
  empty200: { kind: 'flag' },
  wrongtype: { kind: 'flag' },
  nousage: { kind: 'flag' },
  lenient: { kind: 'flag' },
  malformed: { kind: 'number', standard: 0 },
  errorframe: { kind: 'number', standard: 0 },
  errorform: { kind: ['failed', 'flat', 'nested'] },
  nodone: { kind: 'flag' },
  hugeline: { kind: 'number', standard: 1_000_000 },
  crlf: { kind: 'flag' },
  cut: { kind: 'number', standard: 0 },
  cutbody: { kind: 'number', standard: 1 },
  stall: { kind: 'number', standard: 0 },
  delay: { kind: 'number' },
  trickle: { kind: 'number', standard: 1 },
  split: { kind: 'number', standard: 1 },
  length: { kind: ['longer', 'shorter'] },
  reset: { kind: ['now', 'read'] },
  close: { kind: 'number', standard: 1011 },
  after: { kind: 'number', standard: 0 },
  ping: { kind: 'number', standard: 20 },
};

const NUMBER_LIMIT = 100_000_000;
const AT_LEAST: Partial<Record<keyof Fault, number>> = { status: 200, trickle: 1, split: 1, close: 1000, ping: 1 };
const AT_MOST: Partial<Record<keyof Fault, number>> = { status: 599, close: 4999, ping: 600_000 };

/** What an end point may put into a close frame (RFC 6455 7.4). */
const isCloseCode = (code: number): boolean => code >= 3000 || (code <= 1014 && ![1004, 1005, 1006].includes(code));

/** Thrown for a fault that cannot be understood; the message tells what would be. */
export class FaultError extends Error {}

/** Checks a fault that came as JSON. */
export function readFault(value: unknown): Fault {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FaultError('a fault must be an object');
  const fault: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(value)) fault[name] = readSetting(name, setting);
  return fault as Fault;
}

/** Parses what stands behind `!` in a model's name: `status=503,retryAfter=2` or `nodone`. */
export function readSuffix(suffix: string): Fault {
  const fault: Record<string, unknown> = {};
  for (const item of suffix.split(',')) {
    const [name, text] = item.split('=', 2) as [string, string | undefined];
    fault[name] = readSetting(name, settingOf(name, text));
  }
  return fault as Fault;
}

function settingOf(name: string, text: string | undefined): unknown {
  const definition = kindOf(name);
  if (text === undefined) return definition.standard ?? true;
  if (definition.kind === 'number') return Number(text);
  return definition.kind === 'flag' ? text !== 'false' : text;
}

function kindOf(name: string): { kind: Kind; standard?: number } {
  const definition = Object.hasOwn(FAULT_KINDS, name) ? FAULT_KINDS[name as keyof Fault] : undefined;
  if (!definition) throw new FaultError(`unknown fault '${name}'; known are ${Object.keys(FAULT_KINDS).join(', ')}`);
  return definition;
}

function readSetting(name: string, setting: unknown): unknown {
  const { kind } = kindOf(name);
  if (kind === 'flag') {
    if (typeof setting !== 'boolean') throw new FaultError(`fault '${name}' is true or false`);
    return setting;
  }
  if (kind !== 'number') {
    if (!kind.includes(setting as string)) throw new FaultError(`fault '${name}' is one of ${kind.join(', ')}`);
    return setting;
  }
  const least = AT_LEAST[name as keyof Fault] ?? 0;
  const most = AT_MOST[name as keyof Fault] ?? NUMBER_LIMIT;
  if (!Number.isInteger(setting) || (setting as number) < least || (setting as number) > most)
    throw new FaultError(`fault '${name}' is an integer from ${least} to ${most}`);
  if (name === 'close' && !isCloseCode(setting as number))
    throw new FaultError(`fault 'close' is a code that may be sent: 1000-1003, 1007-1014 or 3000-4999`);
  return setting;
}
