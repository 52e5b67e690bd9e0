/** Every case of test/golden/ through the bridge, to and from every protocol. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChatProtocol, GatewayError, type JsonObject } from '../../engine/plugin.ts';
import { callOf, protocols, streamed, vendorBody, wholeReply } from './support.ts';

interface Case {
  readonly name: string;
  readonly input: Buffer;
  readonly from: ChatProtocol;
  /** Stop sequences that the client asked for. */
  readonly stop: readonly string[];
  /** The expected file for a protocol. */
  expected(protocol: string): string;
}

const golden = join(import.meta.dirname, '../golden');

function casesOf(kind: string, inputSide: string, outputSide: string): Case[] {
  return readdirSync(join(golden, kind)).map((name) => {
    const folder = join(golden, kind, name);
    const file = readdirSync(folder).find((one) => one.startsWith(`${inputSide}.`))!;
    const [, protocol, extension] = file.split('.');
    return {
      name,
      input: readFileSync(join(folder, file)),
      from: protocols[protocol!]!,
      stop: stopOf(join(folder, 'stop.json')),
      expected: (to) => join(folder, `${outputSide}.${to}.${extension}`),
    };
  });
}

const stopOf = (file: string): string[] => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);

/** What a codec makes up, ids and times, is the same in every run. */
beforeEach(() => {
  let made = 0;
  vi.useFakeTimers({ toFake: ['Date'], now: 1_790_000_005_000 });
  vi.spyOn(crypto, 'randomUUID').mockImplementation(
    () => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}` as ReturnType<typeof crypto.randomUUID>,
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const names = Object.keys(protocols);

describe.each(casesOf('requests', 'client', 'vendor'))('2.8 request $name', ({ input, from, expected }) => {
  it.each(names)('to a vendor of %s', async (to) => {
    const body = JSON.parse(input.toString('utf8')) as JsonObject;
    await expect(pretty(requestOrRefusal(from, protocols[to]!, body))).toMatchFileSnapshot(expected(to));
  });
});

function requestOrRefusal(from: ChatProtocol, to: ChatProtocol, body: JsonObject): unknown {
  try {
    return vendorBody(from, to, body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.status).toBe(400);
    return { refused: { code: error.code, param: error.param, message: error.message } };
  }
}

describe.each(casesOf('replies', 'vendor', 'client'))('2.9 reply $name', ({ input, from, stop, expected }) => {
  it.each(names)('to a client of %s', async (to) => {
    await expect(pretty(replyOrFailure(protocols[to]!, from, input, stop))).toMatchFileSnapshot(expected(to));
  });
});

function replyOrFailure(client: ChatProtocol, vendor: ChatProtocol, body: Buffer, stop: readonly string[]): unknown {
  try {
    const reply = wholeReply(client, vendor, body, stop);
    return reply.error === null ? JSON.parse(reply.body.toString('utf8')) : { failed: reply.error };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { failed: { code: error.code, cause: error.cause } };
  }
}

describe.each(casesOf('streams', 'vendor', 'client'))('6.2 stream $name', ({ input, from, stop, expected }) => {
  it.each(names)('to a client of %s', async (to) => {
    const { tap, text, closing } = streamed(protocols[to]!, from, [input], callOf(), stop);
    const failed = tap.error === null ? '' : `: failed ${JSON.stringify(tap.error)}\n`;
    await expect(text + closing + failed).toMatchFileSnapshot(expected(to));
  });

  it.each(names)('to a client of %s, byte by byte', async (to) => {
    const bytes = [...input].map((byte) => Buffer.from([byte]));
    const { tap, text, closing } = streamed(protocols[to]!, from, bytes, callOf(), stop);
    const failed = tap.error === null ? '' : `: failed ${JSON.stringify(tap.error)}\n`;
    await expect(text + closing + failed).toMatchFileSnapshot(expected(to));
  });
});
