/** What the end-to-end tests of images share: forms, event streams, stored objects, vendors that misbehave, money. */
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hashKey } from '../../engine/plugin.ts';
import { encodePng } from '../../simulator/images/png.ts';
import type { Documents, Stack } from '../kit/stack.ts';
import { decodeImage } from '../simulator/pixels.ts';

/** A small reference image; each shade is another file. */
export const png = (shade = 50): Buffer => encodePng(48, 32, [200, 100, shade]);

export interface UploadedFile {
  readonly field: string;
  readonly bytes: Buffer;
  readonly type?: string;
  readonly name?: string;
}

export function formOf(fields: Readonly<Record<string, string>>, files: readonly UploadedFile[] = []): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { field, bytes, type = 'image/png', name = 'a.png' } of files)
    form.append(field, new Blob([new Uint8Array(bytes)], { type }), name);
  return form;
}

export const sendForm = (
  stack: Stack,
  form: FormData,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(`${stack.base}/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, ...headers },
    body: form,
    ...(signal === undefined ? {} : { signal }),
  });

export const edit = (
  stack: Stack,
  fields: Readonly<Record<string, string>>,
  images: readonly Buffer[] = [png()],
): Promise<Response> =>
  sendForm(
    stack,
    formOf(
      { prompt: 'make it night', ...fields },
      images.map((bytes) => ({ field: 'image', bytes })),
    ),
  );

export const generate = (
  stack: Stack,
  body: Readonly<Record<string, unknown>>,
  headers: Record<string, string> = {},
): Promise<Response> => stack.post('/images/generations', { prompt: 'a fox', ...body }, headers);

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
export const jsonOf = (response: Response): Promise<any> => response.json();

export interface StreamEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  readonly data: any;
}

/** The frames of a stream; every one must have exactly the framing of spec 6.1, comments aside. */
export function eventsOf(text: string): StreamEvent[] {
  expect(text.endsWith('\n\n')).toBe(true);
  const frames = text.slice(0, -2).split('\n\n');
  return frames
    .filter((frame) => !frame.startsWith(':'))
    .map((frame) => {
      if (frame === 'data: [DONE]') return { event: '[DONE]', data: null };
      const match = /^event: ([a-z_.]+)\ndata: (.+)$/.exec(frame);
      if (match === null) throw new Error(`a frame of another form: ${frame.slice(0, 200)}`);
      const data = JSON.parse(match[2]!);
      expect(data.type).toBe(match[1]);
      return { event: match[1]!, data };
    });
}

export const namesOf = (events: readonly StreamEvent[]): string[] => events.map(({ event }) => event);

/** GETs a signed URL: an object of this gateway, its type and length right, every pixel there. */
export async function stored(stack: Stack, url: string): Promise<{ format: string; width: number; height: number }> {
  expect(url.startsWith(`${stack.gateway.url}/files/images/`)).toBe(true);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('content-length')).toBe(String(bytes.length));
  const picture = decodeImage(bytes);
  expect(response.headers.get('content-type')).toBe(`image/${picture.format}`);
  return picture;
}

/** The names of all images in the folder of objects. */
export async function objectsOf(stack: Stack): Promise<string[]> {
  const names = await readdir(join(stack.data, 'objects'), { recursive: true });
  return names.filter((name) => /\.(png|jpg|webp)$/.test(name)).sort();
}

export const picture = (base64: string) => decodeImage(Buffer.from(base64, 'base64'));

// biome-ignore lint/suspicious/noExplicitAny: requests are looked into freely
export const sent = (stack: Stack): any => {
  expect(stack.simulator.received).toHaveLength(1);
  return stack.simulator.received[0]!.body;
};

/** What the account has: in the ledger, and free of holds. */
export async function money(stack: Stack): Promise<{ balance: number; available: number }> {
  await stack.gateway.ledger.flush();
  const { accounts } = stack.gateway.ledger;
  const user = (await accounts.listUsers()).find(({ id }) => id === stack.userId)!;
  const key = await stack.gateway.ledger.findKey(hashKey(stack.key));
  return { balance: user.balance, available: key!.account.available };
}

export async function expectAudit(stack: Stack): Promise<void> {
  await stack.gateway.ledger.flush();
  expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  const { balance, available } = await money(stack);
  expect(available).toBe(balance);
}

/** A refusal as spec 7 wants it: status, error body with code and request id. */
export async function expectError(response: Response, status: number, code: string, param?: string) {
  const body = await jsonOf(response);
  expect({ status: response.status, code: body.error?.code, param: body.error?.param }).toEqual({
    status,
    code,
    param: param === undefined ? body.error?.param : param,
  });
  expect(body.error.message).toContain(`(request id: ${response.headers.get('x-request-id')})`);
  expect(typeof body.error.type).toBe('string');
  return body.error;
}

export interface FakeVendor {
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly hits: string[];
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** A vendor (or a trap) whose answers the test writes; `hits` are the paths that were asked for. */
export async function startVendor(handler: Handler, early: () => number = () => 0): Promise<FakeVendor> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    if (early() !== 0) {
      response.writeHead(early(), { 'content-type': 'application/json', connection: 'close' });
      return void response.end('{"error":{"message":"no"}}');
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handler(request, response, Buffer.concat(chunks)));
    request.on('error', () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: origin,
    origin,
    port,
    hits,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Only this channel for these models. */
export function onlyChannel(
  documents: Documents,
  name: string,
  channel: { vendor: string; baseUrl: string; models: Record<string, string> } & Record<string, unknown>,
): void {
  for (const other of Object.values<{ models: Record<string, string> }>(documents.channels.channels)) {
    other.models = Object.fromEntries(
      Object.entries(other.models).filter(([model]) => !Object.hasOwn(channel.models, model)),
    );
  }
  documents.channels.channels = Object.fromEntries(
    Object.entries<{ models: object }>(documents.channels.channels).filter(
      ([, { models }]) => Object.keys(models).length > 0,
    ),
  );
  documents.channels.channels[name] = { credentials: ['xai-fake'], groups: ['default', 'vip'], ...channel };
}

export async function eventually<T>(look: () => T | Promise<T>, good: (value: T) => boolean, ms = 5000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = await look();
    if (good(value) || Date.now() > end) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
