/** Which failures move on to the next channel, and what the client hears when none is left. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  channelsTried,
  chatBody,
  deadBase,
  errorOf,
  lastRow,
  openRaw,
  recordingLog,
  startChannels,
} from './chat-support.ts';

let stack: Stack;
afterEach(() => stack.close());

const rested = { failures: 100, first: '10ms', longest: '20ms' };
const two = (broken: object) =>
  startChannels({ broken: { priority: 2, cooldown: rested, ...broken }, good: { priority: 1 } });

describe('7 a failure of one channel', () => {
  it('7 a refused connection goes to the next channel, whole and streamed', async () => {
    stack = await two({ baseUrl: await deadBase() });
    const whole = await stack.post('/chat/completions', chatBody('hi'));
    expect(whole.status).toBe(200);
    await whole.arrayBuffer();
    const streamed = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(await streamed.text()).toMatch(/data: \[DONE\]\n\n$/);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', channel: 'good', attempts: 2 });
  });

  it('7 two channels of one origin that both refuse the connection answer 502 and leave the gateway alive', async () => {
    const baseUrl = await deadBase();
    stack = await startChannels({
      first: { baseUrl, priority: 2, cooldown: rested },
      second: { baseUrl, cooldown: rested },
    });
    for (let round = 0; round < 3; round++) {
      const response = await stack.post('/chat/completions', chatBody('hi'));
      expect(response.status).toBe(502);
      expect((await errorOf(response)).code).toBe('upstream_unreachable');
    }
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', attempts: 2, quota: 0 });
  });

  it.each([429, 500, 502, 503])('7 status %i goes to the next channel', async (status) => {
    stack = await two({ vendorModel: `gpt-4.1-mini!status=${status}` });
    for (const stream of [false, true]) {
      stack.simulator.reset();
      const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream }));
      expect(await client.status).toBe(200);
      await client.text;
      expect(channelsTried(stack).at(-1)).toBe('good');
    }
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', channel: 'good' });
  });

  it.each([400, 403, 404, 413, 422])('7 status %i is the client’s own and ends the request', async (status) => {
    stack = await two({ vendorModel: `gpt-4.1-mini!status=${status}` });
    for (const stream of [false, true]) {
      stack.simulator.reset();
      const response = await stack.post('/chat/completions', chatBody('hi', { stream }));
      expect(response.status).toBe(status);
      expect(response.headers.get('x-request-id')).toBeTruthy();
      expect(await errorOf(response)).toMatchObject({ message: expect.stringContaining('request id') });
      expect(channelsTried(stack)).toEqual(['broken']);
    }
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', status, quota: 0, attempts: 1 });
  });

  it('7 each channel is tried once, tiers from the highest priority down', async () => {
    const failing = { vendorModel: 'gpt-4.1-mini!status=500', cooldown: rested };
    stack = await startChannels({
      low: { ...failing, priority: -1 },
      high: { ...failing, priority: 5 },
      middle: { ...failing, priority: 1 },
      twin: { ...failing, priority: 1 },
    });
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.status).toBe(502);
    const tried = channelsTried(stack);
    expect(tried[0]).toBe('high');
    expect(tried.slice(1, 3).sort()).toEqual(['middle', 'twin']);
    expect(tried.slice(3)).toEqual(['low']);
    expect(await lastRow(stack)).toMatchObject({ attempts: 4, quota: 0, outcome: 'error' });
  });

  it('7 when all channels answer 429 the client gets 429 with the shortest Retry-After of the vendors', async () => {
    stack = await startChannels({
      first: { vendorModel: 'gpt-4.1-mini!status=429,retryAfter=30', priority: 2 },
      second: { vendorModel: 'gpt-4.1-mini!status=429,retryAfter=7' },
    });
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect((await errorOf(response)).code).toBe('upstream_rate_limited');
  });

  it('7 the Retry-After of one channel is not told for the error of another one', async () => {
    stack = await startChannels({
      first: { vendorModel: 'gpt-4.1-mini!status=429,retryAfter=900', priority: 2 },
      second: { vendorModel: 'gpt-4.1-mini!error200', cooldown: rested },
    });
    await stack.post('/chat/completions', chatBody('hi'));
    const again = await stack.post('/chat/completions', chatBody('hi'));
    expect(again.status).toBe(502);
    expect(channelsTried(stack)).toEqual(['first', 'second', 'second']);
  });
});

describe('5 a bad credential of a channel', () => {
  it.each([
    ['as 401', 'sk-bad-credential-of-the-operator', ''],
    ['without credit', 'sk-quota-credential-of-the-operator', ''],
  ])('5 %s goes to the next channel and is an error in the log without the secret', async (_name, credential) => {
    const { log, entries } = recordingLog();
    stack = await startChannels({ broken: { priority: 2, credentials: [credential] }, good: { priority: 1 } }, { log });
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    const alarm = entries.find(({ level }) => level === 'error');
    expect(alarm?.fields).toMatchObject({ channel: 'broken', reason: 'credential', rests: 'credential' });
    expect(JSON.stringify(entries)).not.toContain(credential);
    stack.simulator.reset();
    await (await stack.post('/chat/completions', chatBody('hi'))).arrayBuffer();
    expect(channelsTried(stack), 'it rests at once').toEqual(['good']);
  });

  it('5 alone it is a 502 and never a 401', async () => {
    stack = await startChannels({ broken: { credentials: ['sk-bad-one'] } });
    for (const stream of [false, true]) {
      const response = await stack.post('/chat/completions', chatBody('hi', { stream }));
      expect([502, 503]).toContain(response.status);
      expect(await response.text()).not.toContain('bad-one');
    }
  });

  it('5 of several credentials the good one goes on serving', async () => {
    stack = await startChannels({
      mixed: { credentials: ['sk-bad-one', 'sk-fine'], priority: 2 },
      spare: { priority: 1 },
    });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) {
      const response = await stack.post('/chat/completions', chatBody('hi'));
      statuses.push(response.status);
      await response.arrayBuffer();
    }
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(channelsTried(stack)).toEqual(['bad-one', 'spare', 'fine', 'fine', 'fine']);
  });

  it('5 good credentials are used in turn', async () => {
    stack = await startChannels({ several: { credentials: ['sk-a', 'sk-b', 'sk-c'] } });
    for (let round = 0; round < 6; round++) await (await stack.post('/chat/completions', chatBody('hi'))).arrayBuffer();
    expect(channelsTried(stack)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});
