/** What the tests of the direct routes share: the official SDK, sounds, forms, channels of their own. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import type { UsageRow } from '../../engine/contract/usage.ts';
import { type Stack, type StackOptions, startStack } from '../kit/stack.ts';

/** The SDK without its own retries: a test must see what the gateway answers. */
export const clientOf = (stack: Stack): OpenAI => new OpenAI({ apiKey: stack.key, baseURL: stack.base, maxRetries: 0 });

/** A WAV of silence, 8 kHz, 16 bit. */
export function wav(seconds: number): Buffer {
  const bytes = Math.round(seconds * 16_000);
  const file = Buffer.alloc(44 + bytes);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + bytes, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(8_000, 24);
  file.writeUInt32LE(16_000, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(bytes, 40);
  return file;
}

export const wavFile = (seconds: number, name = 'speech.wav'): File =>
  new File([new Uint8Array(wav(seconds))], name, { type: 'audio/wav' });

export function formOf(fields: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

export const postForm = (stack: Stack, path: string, form: FormData, headers: Record<string, string> = {}) =>
  fetch(`${stack.base}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, ...headers },
    body: form,
  });

/** Two channels of one vendor for one model, tried in this order: the first with a fault, the second well. */
export function startPair(
  model: string,
  vendorModel: string,
  fault: string,
  options: StackOptions & { readonly first?: object } = {},
): Promise<Stack> {
  return startStack({
    ...options,
    edit(documents) {
      const known = Object.values<{ vendor: string; baseUrl: string; models: object }>(documents.channels.channels);
      const { vendor, baseUrl } = known.find(({ models }) => Object.hasOwn(models, model))!;
      const channel = { vendor, baseUrl, groups: ['default'] };
      documents.channels.channels = {
        first: {
          ...channel,
          credentials: ['sk-first'],
          models: { [model]: `${vendorModel}${fault}` },
          priority: 2,
          ...options.first,
        },
        second: { ...channel, credentials: ['sk-second'], models: { [model]: vendorModel }, priority: 1 },
      };
      options.edit?.(documents);
    },
  });
}

/** A vendor that does what it is told to, as OpenAI's address of a channel. */
export async function startVendor(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly baseUrl: string; close(): void }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A stack whose one channel is a vendor of `startVendor`. */
export const startWith = (baseUrl: string, model: string, options: StackOptions = {}): Promise<Stack> =>
  startStack({
    ...options,
    edit(documents) {
      const only = { vendor: 'openai', baseUrl, credentials: ['x'], groups: ['default'], models: { [model]: 'any' } };
      documents.channels.channels = { only };
      options.edit?.(documents);
    },
  });

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

/** Waits until `holds` answers true; fails after two seconds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let step = 0; step < 200; step++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never came true');
}
