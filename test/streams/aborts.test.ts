/** Clients that leave, and clients that read slowly, on every streaming chat protocol over every vendor protocol. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { clients, modelOf, type StreamClient, type StreamVendor, setStreamChannels, vendors } from './pairs.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ edit: setStreamChannels });
});
afterAll(() => stack.close());
beforeEach(() => stack.simulator.reset());

function send(client: StreamClient, vendor: StreamVendor, prompt: string): ClientRequest {
  const model = modelOf(vendor);
  const sent = request(`${stack.gateway.url}${client.path(model)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...client.headers },
  });
  sent.on('error', () => {});
  sent.end(JSON.stringify(client.body(model, prompt)));
  return sent;
}

const answerOf = async (sent: ClientRequest): Promise<IncomingMessage> => {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
};

/** The one row, once the gateway has noticed that its client left. */
async function settled(before: number) {
  for (let tries = 0; tries < 100; tries++) {
    const rows = await stack.usage();
    if (rows.length > before) return rows[0]!;
    await delay(20);
  }
  throw new Error('the request was not settled within two seconds');
}

const pairs = clients.flatMap((client) => vendors.map((vendor) => ({ client, vendor })));

describe.each(pairs)('4.1 a $client.protocol client on a vendor of $vendor.protocol', ({ client, vendor }) => {
  it('6.2 leaves before the first event: the vendor is cut off, nothing is charged', async () => {
    const before = (await stack.usage()).length;
    stack.simulator.faults.add({ match: { vendor: vendor.vendor }, fault: { latency: 300 } });
    const sent = send(client, vendor, 'Hello');
    while (stack.simulator.received.length === 0) await delay(5);
    sent.destroy();
    expect(await settled(before)).toMatchObject({ outcome: 'aborted', status: 499, quota: 0, attempts: 1 });
    await expect.poll(() => stack.simulator.received[0]!.aborted).toBe(true);
  });

  it.each([1, 10])('6.2 leaves after %i pieces: the vendor is cut off, what came is charged', async (pieces) => {
    const before = (await stack.usage()).length;
    const sent = send(client, vendor, '[chunks=60] [tokens=200] [delay=15]');
    const response = await answerOf(sent);
    let read = 0;
    for await (const _piece of response) {
      read++;
      if (read === pieces) break;
    }
    response.destroy();
    const row = await settled(before);
    expect(row).toMatchObject({ outcome: 'aborted', attempts: 1 });
    expect(row.quota).toBeGreaterThan(0);
    await expect.poll(() => stack.simulator.received[0]!.aborted).toBe(true);
  });

  it('6.2 reads slowly: it gets everything', async () => {
    const before = (await stack.usage()).length;
    const sent = send(client, vendor, '[chunks=400] [tokens=800]');
    const response = await answerOf(sent);
    const read: Buffer[] = [];
    response.on('data', (piece: Buffer) => {
      read.push(piece);
      if (read.length % 20 !== 0) return;
      response.pause();
      setTimeout(() => response.resume(), 10);
    });
    await once(response, 'end');
    const text = Buffer.concat(read).toString();
    expect(text).toMatch(client.ended);
    expect(client.said(text).length).toBeGreaterThan(client.protocol === 'openai-completions' ? 400 : 600);
    expect(await settled(before)).toMatchObject({ outcome: 'ok' });
  });
});
