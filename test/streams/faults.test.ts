/**
 * Every streaming chat protocol against every vendor protocol, with everything that can go wrong on the way: what the
 * client sees, whether another channel is tried, what is billed.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { clients, modelOf, type StreamClient, type StreamVendor, setStreamChannels, vendors } from './pairs.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ edit: setStreamChannels });
});
afterAll(() => stack.close());
beforeEach(() => stack.simulator.reset());

const prompt = 'Say something. [chunks=6] [tokens=30]';

interface Seen {
  readonly status: number;
  readonly text: string;
}

async function ask(client: StreamClient, vendor: StreamVendor): Promise<Seen> {
  const model = modelOf(vendor);
  const response = await fetch(`${stack.gateway.url}${client.path(model)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...client.headers },
    body: JSON.stringify(client.body(model, prompt)),
  });
  // A relay hands the vendor's own line ends on.
  return { status: response.status, text: (await response.text()).replaceAll('\r\n', '\n') };
}

/**
 * `whole`: the first channel's answer, all of it; `other`: the second channel's, the client notices nothing; `broken`:
 * the client has begun to read and is told within the stream, and pays for what it got.
 */
type Expected = 'whole' | 'other' | 'broken';

/** Behind the first words: a response begins with four events, a message with three, that say nothing yet. */
const within = 6;

const faults: readonly (readonly [name: string, fault: object, expected: Expected])[] = [
  ['nothing goes wrong', {}, 'whole'],
  ['every byte comes alone', { split: 1 }, 'whole'],
  ['ten bytes at a time, slowly', { trickle: 40, delay: 1 }, 'whole'],
  ['lines end with CRLF', { crlf: true }, 'whole'],
  ['the closing marker is missing', { nodone: true }, 'whole'],
  ['usage is missing', { nousage: true }, 'whole'],
  ['the connection is cut before the first event', { cut: 0 }, 'other'],
  ['the connection is reset before the answer', { reset: 'read' }, 'other'],
  ['silence before the first event', { stall: 0 }, 'other'],
  ['an error event is the first', { errorframe: 0 }, 'other'],
  ['the first event is no JSON', { malformed: 0 }, 'other'],
  ['a 200 without a body', { empty200: true }, 'other'],
  ['a 200 with a page of HTML', { wrongtype: true }, 'other'],
  ['a 200 with an error', { error200: true }, 'other'],
  ['status 503', { status: 503 }, 'other'],
  ['the connection is cut within', { cut: within }, 'broken'],
  ['silence within', { stall: within }, 'broken'],
  ['an error event within', { errorframe: within }, 'broken'],
];

/** Where a protocol has no such thing as the fault, or another outcome is right. */
function expectedFor(name: string, expected: Expected, vendor: StreamVendor): Expected {
  // The terminal event of a response holds its status and usage: without it the answer is not known to be whole.
  if (name === 'the closing marker is missing' && vendor.protocol === 'openai-responses') return 'broken';
  return expected;
}

const pairs = clients.flatMap((client) => vendors.map((vendor) => ({ client, vendor })));

describe.each(pairs)('4.1 a $client.protocol client on a vendor of $vendor.protocol', ({ client, vendor }) => {
  it.each(faults)('6.2 %s', async (name, fault, outcome) => {
    const expected = expectedFor(name, outcome, vendor);
    stack.simulator.faults.add({ match: { vendor: vendor.vendor, times: 1 }, fault });
    const { status, text } = await ask(client, vendor);
    const [row] = await stack.usage();
    expect({ status, attempts: stack.simulator.received.length }).toEqual({
      status: 200,
      attempts: expected === 'other' ? 2 : 1,
    });
    expect(row).toMatchObject({ model: modelOf(vendor), attempts: expected === 'other' ? 2 : 1 });
    if (expected === 'broken') {
      expect(text).toMatch(client.failed);
      expect(text).not.toMatch(client.ended);
      expect(row).toMatchObject({ outcome: 'error' });
    } else {
      expect(text).toMatch(client.ended);
      expect(text).not.toMatch(client.failed);
      expect(client.said(text).length).toBeGreaterThan(60);
      expect(row).toMatchObject({ outcome: 'ok', usageSource: name === 'usage is missing' ? 'estimated' : 'measured' });
    }
    expect(row!.outputTokens).toBeGreaterThan(0);
    expect(row!.quota).toBeGreaterThan(0);
  });

  it('6.2 when every channel fails the client gets a status', async () => {
    stack.simulator.faults.add({ match: { vendor: vendor.vendor }, fault: { errorframe: 0 } });
    const { status, text } = await ask(client, vendor);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(JSON.parse(text)).toHaveProperty('error');
    expect((await stack.usage())[0]).toMatchObject({ attempts: 2, quota: 0, outcome: 'error' });
  });
});

// Last: a channel that limits the rate rests.
const relays = pairs.filter(({ client, vendor }) => client.protocol === vendor.protocol);
describe.each(relays)('4.1 a $client.protocol client on a busy vendor', ({ client, vendor }) => {
  it('6.2 7 status 429', async () => {
    stack.simulator.faults.add({ match: { vendor: vendor.vendor, times: 1 }, fault: { status: 429 } });
    const { status, text } = await ask(client, vendor);
    expect(status).toBe(200);
    expect(text).toMatch(client.ended);
  });
});

const closing = pairs.filter(({ vendor }) => vendor.protocol !== 'gemini-generate');
describe.each(closing)('4.1 a $client.protocol client on a vendor of $vendor.protocol', ({ client, vendor }) => {
  it('6.1 6.2 the last event ends the answer, also where the vendor leaves the connection open', async () => {
    stack.simulator.faults.add({ match: { vendor: vendor.vendor, times: 1 }, fault: { stall: 1000 } });
    const { text } = await ask(client, vendor);
    expect(text).toMatch(client.ended);
    expect((await stack.usage())[0]).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
  });
});
