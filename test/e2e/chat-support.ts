/** What the chat tests share: stacks with channels of their own, a vendor that follows a script, raw clients. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { UsageRow } from '../../engine/contract/usage.ts';
import type { Log } from '../../engine/contract/values.ts';
import { type Documents, type Stack, type StackOptions, startStack } from '../kit/stack.ts';

/** What of a channel a test cares about; the rest stands for itself. */
export interface TestChannel {
  readonly baseUrl?: string;
  readonly vendorModel?: string;
  readonly [field: string]: unknown;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration fills it in
export const simulatorBase = '${env:SIMULATOR_URL}/openai/v1';

/** Replaces all channels; `demo-chat` is served by each unless it names its own `models`. */
function setChannels(documents: Documents, channels: Readonly<Record<string, TestChannel>>): void {
  documents.channels.channels = {};
  for (const [name, { vendorModel = 'gpt-4.1-mini', ...fields }] of Object.entries(channels)) {
    documents.channels.channels[name] = {
      vendor: 'openai',
      baseUrl: simulatorBase,
      credentials: [`sk-${name}`],
      groups: ['default'],
      models: { 'demo-chat': vendorModel },
      ...fields,
    };
  }
}

export function startChannels(
  channels: Readonly<Record<string, TestChannel>>,
  options: StackOptions = {},
): Promise<Stack> {
  return startStack({
    ...options,
    edit(documents) {
      setChannels(documents, channels);
      options.edit?.(documents);
    },
  });
}

export const chatBody = (prompt: string, fields: object = {}) => ({
  model: 'demo-chat',
  messages: [{ role: 'user', content: prompt }],
  ...fields,
});

/** The channels a request was tried at, by the credential that `setChannels` gave them. */
export const channelsTried = (stack: Stack): string[] =>
  stack.simulator.received.map(({ headers }) => String(headers.authorization).replace('Bearer sk-', ''));

export async function lastRow(stack: Stack): Promise<UsageRow> {
  const [row] = await stack.usage();
  if (row === undefined) throw new Error('the usage log is empty');
  return row;
}

/** The payloads of the `data:` lines of a stream. */
export const payloads = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));

/** What the stream says, put together. */
export function spoken(text: string): string {
  return payloads(text)
    .filter((one) => one.startsWith('{'))
    .map((one) => JSON.parse(one).choices?.[0]?.delta?.content ?? '')
    .join('');
}

/** The error a stream ended with, or undefined. */
export function streamError(text: string): { message: string; type: string; code: string } | undefined {
  const last = payloads(text).at(-1);
  return last?.startsWith('{') ? JSON.parse(last).error : undefined;
}

export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export const errorOf = async (response: Response): Promise<ErrorBody> =>
  ((await response.json()) as { error: ErrorBody }).error;

export async function waitFor<T>(read: () => T | Promise<T>, limit = 10_000): Promise<NonNullable<T>> {
  const until = Date.now() + limit;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (Date.now() > until) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A client on its own socket that can stop reading and can leave. */
export interface RawClient {
  readonly status: Promise<number>;
  /** Everything that came, once the answer ended; rejects when it was cut. */
  readonly text: Promise<string>;
  /** What came so far. */
  received(): string;
  pause(): void;
  resume(): void;
  leave(): void;
}

export function openRaw(stack: Stack, path: string, body: unknown, key = stack.key): RawClient {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const chunks: Buffer[] = [];
  let response: IncomingMessage | null = null;
  let paused = false;
  const outgoing = request(`${stack.base}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  });
  let ended: (text: string) => void;
  let broken: (error: Error) => void;
  const whole = new Promise<string>((resolve, reject) => {
    ended = resolve;
    broken = reject;
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', (incoming) => {
      response = incoming;
      incoming.on('end', () => ended(Buffer.concat(chunks).toString('utf8')));
      incoming.on('error', broken);
      if (paused) incoming.pause();
      else incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      resolve(incoming);
    });
    outgoing.on('error', (error) => {
      reject(error);
      broken(error);
    });
  });
  const status = answered.then((incoming) => incoming.statusCode ?? 0);
  // A test that leaves on purpose does not look at these.
  whole.catch(() => {});
  status.catch(() => {});
  outgoing.end(text);
  return {
    status,
    text: whole,
    received: () => Buffer.concat(chunks).toString('utf8'),
    pause() {
      paused = true;
      response?.pause();
    },
    resume() {
      paused = false;
      if (response === null) return;
      if (response.listenerCount('data') === 0) response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.resume();
    },
    leave: () => outgoing.destroy(),
  };
}

/** A vendor whose answers a test writes itself, byte by byte. */
export interface ScriptedVendor {
  readonly baseUrl: string;
  readonly requests: { readonly body: Buffer; readonly headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

export async function startVendor(
  answer: (response: ServerResponse, requestBody: Buffer, index: number) => void,
): Promise<ScriptedVendor> {
  const requests: ScriptedVendor['requests'] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      requests.push({ body, headers: incoming.headers });
      answer(response, body, requests.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A base URL where nobody listens. */
export async function deadBase(): Promise<string> {
  const vendor = await startVendor((response) => response.end());
  await vendor.close();
  return vendor.baseUrl;
}

export const chunk = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'scripted',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`;

export const usageChunk = (prompt: number, completion: number): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'scripted',
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  })}\n\n`;

export const done = 'data: [DONE]\n\n';

export interface LogEntry {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function recordingLog(): { readonly log: Log; readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const at = (level: keyof Log) => (fields: object, message: string) => {
    entries.push({ level, message, fields: fields as Readonly<Record<string, unknown>> });
  };
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, entries };
}
