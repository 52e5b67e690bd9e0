/** Channels that rest and are probed, shares by weight, and what a channel lays over a request. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  channelsTried,
  chatBody,
  errorOf,
  lastRow,
  openRaw,
  pause,
  recordingLog,
  type ScriptedVendor,
  startChannels,
  startVendor,
  waitFor,
} from './chat-support.ts';

let stack: Stack;
let vendor: ScriptedVendor | null = null;
afterEach(async () => {
  await stack.close();
  await vendor?.close();
  vendor = null;
});

const ask = async (fields: object = {}): Promise<Response> => {
  const response = await stack.post('/chat/completions', chatBody('hi', fields));
  await response.clone().arrayBuffer();
  return response;
};
const fails = (status: number, extra: object = {}) =>
  stack.simulator.faults.add({ match: { path: '/chat/' }, fault: { status, ...extra } });

describe('7 a channel that rests', () => {
  const cooldown = { failures: 3, first: '300ms', longest: '1200ms' };

  it('7 after three failures in a row, is left alone, is probed once and comes back', async () => {
    stack = await startChannels({ only: { cooldown } });
    fails(500);
    for (let round = 0; round < 3; round++) expect((await ask()).status).toBe(502);
    const resting = await ask();
    expect(resting.status).toBe(503);
    expect(await errorOf(resting)).toMatchObject({ code: 'no_channel_available', type: 'server_error' });
    expect(resting.headers.get('retry-after')).toBe('1');
    expect(stack.simulator.received).toHaveLength(3);
    expect(await lastRow(stack)).toMatchObject({ status: 503, outcome: 'error', attempts: 0, channel: null, quota: 0 });
    await pause(350);
    stack.simulator.reset();
    stack.simulator.faults.add({ match: { path: '/chat/' }, fault: { latency: 200 } });
    const [probe, ...others] = await Promise.all([ask(), ask(), ask(), ask()]);
    expect([probe, ...others].map(({ status }) => status).sort()).toEqual([200, 503, 503, 503]);
    expect(stack.simulator.received).toHaveLength(1);
    const together = await Promise.all([ask(), ask(), ask()]);
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('7 a probe that fails doubles the rest, up to the longest', async () => {
    stack = await startChannels({ only: { cooldown: { failures: 1, first: '200ms', longest: '400ms' } } });
    fails(500);
    expect((await ask()).status).toBe(502);
    await pause(250);
    expect((await ask()).status).toBe(502);
    await pause(250);
    expect((await ask()).status, 'it rests 400 ms now').toBe(503);
    await pause(200);
    expect((await ask()).status).toBe(502);
    await pause(450);
    expect((await ask()).status, 'not 800 ms').toBe(502);
  });

  it('7 one success between failures starts the count anew', async () => {
    stack = await startChannels({ only: { cooldown } });
    for (let round = 0; round < 4; round++) {
      stack.simulator.faults.add({ match: { path: '/chat/', times: 2 }, fault: { status: 500 } });
      expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([502, 502, 200]);
    }
  });

  it.each(['whole', 'stream'])(
    '7 a probe that runs into the whole-request timeout (%s) does not lock the channel out',
    async (kind) => {
      stack = await startChannels(
        { only: { cooldown: { failures: 1, first: '100ms', longest: '100ms' } } },
        {
          edit: ({ routes }) => {
            routes.routes[0].timeout = '300ms';
          },
        },
      );
      fails(500);
      expect((await ask()).status).toBe(502);
      await pause(150);
      stack.simulator.reset();
      stack.simulator.faults.add({ match: { path: '/chat/' }, fault: { latency: 2000 } });
      expect((await ask({ stream: kind === 'stream' })).status).toBe(504);
      stack.simulator.reset();
      await pause(150);
      expect((await ask()).status).toBe(200);
    },
  );

  it('7 a probe whose client leaves does not lock the channel out', async () => {
    stack = await startChannels({ only: { cooldown: { failures: 1, first: '100ms', longest: '100ms' } } });
    fails(500);
    expect((await ask()).status).toBe(502);
    await pause(150);
    stack.simulator.reset();
    stack.simulator.faults.add({ match: { path: '/chat/' }, fault: { latency: 2000 } });
    const client = openRaw(stack, '/chat/completions', chatBody('hi'));
    await waitFor(() => stack.simulator.received[0]);
    client.leave();
    await waitFor(() => stack.simulator.received[0]?.aborted);
    stack.simulator.reset();
    expect((await ask()).status).toBe(200);
  });

  it('7 the Retry-After of a vendor is obeyed and told', async () => {
    stack = await startChannels({ only: { cooldown } });
    fails(503, { retryAfter: 2 });
    const first = await ask();
    expect(first.status).toBe(503);
    expect(first.headers.get('retry-after')).toBe('2');
    await pause(500);
    const second = await ask();
    expect(await errorOf(second)).toMatchObject({ code: 'no_channel_available' });
    expect(second.headers.get('retry-after')).toBe('2');
    stack.simulator.reset();
    await pause(1700);
    expect((await ask()).status).toBe(200);
  });

  it('7 a channel whose streams break again and again rests too', async () => {
    stack = await startChannels({ weak: { cooldown, priority: 2 }, spare: {} });
    stack.simulator.faults.add({ match: { path: '/chat/', times: 3 }, fault: { cut: 2 } });
    for (let round = 0; round < 3; round++) expect(await (await ask({ stream: true })).text()).toContain('"error"');
    expect(await (await ask({ stream: true })).text()).toContain('[DONE]');
    expect(channelsTried(stack)).toEqual(['weak', 'weak', 'weak', 'spare']);
  });

  it('7 the client’s own mistakes do not make a channel rest', async () => {
    stack = await startChannels({ only: { cooldown: { ...cooldown, failures: 1 } } });
    fails(400);
    for (let round = 0; round < 3; round++) expect((await ask()).status).toBe(400);
  });

  it('7 the rest outlives a reload', async () => {
    stack = await startChannels({ only: { cooldown: { failures: 1, first: '10s', longest: '10s' } } });
    fails(500);
    await ask();
    await stack.rewrite(({ channels }) => {
      channels.channels.only.weight = 5;
    });
    await stack.gateway.reload();
    expect((await ask()).status).toBe(503);
  });

  it('7 the rest ends with the address that was wrong', async () => {
    stack = await startChannels({ only: { cooldown: { failures: 1, first: '60s', longest: '60s' } } });
    let right = '';
    await stack.rewrite(({ channels }) => {
      right = channels.channels.only.baseUrl;
      channels.channels.only.baseUrl = 'http://127.0.0.1:9/v1';
    });
    await stack.gateway.reload();
    expect((await ask()).status).toBe(502);
    expect((await ask()).status).toBe(503);
    await stack.rewrite(({ channels }) => {
      channels.channels.only.baseUrl = right;
    });
    await stack.gateway.reload();
    expect((await ask()).status).toBe(200);
  });

  it('7 one request that is larger than the account may ever send is 413, and the channel serves the others', async () => {
    const message = 'Request too large for gpt-4.1-mini on tokens per min (TPM): Limit 30000, Requested 40000.';
    const error = { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' };
    vendor = await startVendor((response) => {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
    });
    stack = await startChannels({ only: { baseUrl: vendor.baseUrl, cooldown: { ...cooldown, failures: 1 } } });
    for (let round = 0; round < 2; round++) {
      const answer = await ask();
      expect([answer.status, (await errorOf(answer)).code]).toEqual([413, 'body_too_large']);
    }
    expect(vendor.requests, 'it does not rest').toHaveLength(2);
  });
});

describe('7 an answer that is larger than is read', () => {
  it('7 is 413 for the client that asked for so much, and the channel serves the others', async () => {
    const piece = Buffer.alloc(1024 * 1024, ' ');
    vendor = await startVendor((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let written = 0; written <= 65; written++) response.write(piece);
    });
    stack = await startChannels({
      only: { baseUrl: vendor.baseUrl, cooldown: { failures: 1, first: '60s', longest: '60s' } },
    });
    for (let round = 0; round < 2; round++) {
      const answer = await ask();
      expect([answer.status, (await errorOf(answer)).code]).toEqual([413, 'body_too_large']);
    }
    expect(vendor.requests, 'it does not rest').toHaveLength(2);
  });
});

describe('5 a bad credential in other clothes', () => {
  it.each([
    [
      400,
      { message: 'Incorrect API key provided: sk-ab***yz.', type: 'invalid_request_error', param: null, code: null },
    ],
    [401, { message: 'no', type: 'invalid_request_error', param: null, code: 'invalid_api_key' }],
    [402, { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' }],
    [
      403,
      {
        message: 'Country, region, or territory not supported',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    ],
    [
      429,
      {
        message: 'You exceeded your current quota',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    ],
  ])('5 status %i: the next channel, an alarm, and alone never a 4xx for the client', async (status, error) => {
    vendor = await startVendor((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
    });
    const { log, entries } = recordingLog();
    stack = await startChannels({ bad: { baseUrl: vendor.baseUrl, priority: 2 }, good: {} }, { log });
    expect((await ask()).status).toBe(200);
    const alarms = entries.filter(({ level }) => level === 'error');
    expect(alarms).toHaveLength(1);
    expect(alarms[0]?.fields).toMatchObject({ channel: 'bad', credentialNumber: 1, reason: 'credential' });
    expect((await ask()).status).toBe(200);
    expect(vendor.requests, 'it rests').toHaveLength(1);
    await stack.close();
    stack = await startChannels({ bad: { baseUrl: vendor.baseUrl } });
    const alone = await ask();
    expect(alone.status).toBe(502);
    expect((await errorOf(alone)).message).toMatch(/operator/);
  });
});

it('5 what an account may not do for one request is tried elsewhere, and it goes on serving the others', async () => {
  const message = 'Your organization must be verified to use the tool image_generation.';
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  vendor = await startVendor((response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error }));
  });
  const { log, entries } = recordingLog();
  stack = await startChannels({ bare: { baseUrl: vendor.baseUrl, priority: 2 }, good: {} }, { log });
  for (let round = 0; round < 3; round++) expect((await ask()).status).toBe(200);
  expect(vendor.requests, 'it does not rest').toHaveLength(3);
  expect(entries.filter(({ level }) => level === 'error')).toEqual([]);
  const told = entries.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
  expect(told).toContainEqual(expect.objectContaining({ channel: 'bare', reason: 'credential', rests: null }));
  await stack.close();
  stack = await startChannels({ bare: { baseUrl: vendor.baseUrl } });
  for (let round = 0; round < 2; round++) expect((await ask()).status).toBe(502);
});

describe('7 shares and overrides', () => {
  it('7 requests are shared by weight; weight 0 only helps out', async () => {
    const cooldown = { failures: 1000, first: '1ms', longest: '1ms' };
    stack = await startChannels({ a: { weight: 3, cooldown }, b: { weight: 1, cooldown }, c: { weight: 0, cooldown } });
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 20 }, () => ask()));
    const tried = channelsTried(stack);
    const count = (name: string) => tried.filter((one) => one === name).length;
    // 400 draws with p = 3/4: a deviation of 50 is beyond five sigma.
    expect(count('a')).toBeGreaterThan(250);
    expect(count('a')).toBeLessThan(350);
    expect(count('c')).toBe(0);
    stack.simulator.reset();
    stack.simulator.faults.add({ match: { path: '/chat/', times: 2 }, fault: { status: 500 } });
    expect((await ask()).status).toBe(200);
    expect(channelsTried(stack).at(-1)).toBe('c');
  });

  it.each([false, true])('7 headers and parameters of a channel are laid over, streamed: %s', async (stream) => {
    stack = await startChannels({
      main: {
        headers: { 'x-team': 'blue', 'user-agent': 'mine/1' },
        parameters: { set: { service_tier: 'flex', temperature: 0.5 }, remove: ['user', 'seed', 'absent'] },
      },
    });
    const body = `{ "model":"demo-chat","seed":7 , "temperature":1.0,"messages":[{"role":"user","content":"hi"}],"metadata":{"seed":"1"},"user":"me","stream":${stream}}`;
    const response = await stack.post('/chat/completions', body);
    expect(response.status, await response.text()).toBe(200);
    const { headers, body: sent } = stack.simulator.received[0]!;
    expect(headers).toMatchObject({ 'x-team': 'blue', 'user-agent': 'mine/1', authorization: 'Bearer sk-main' });
    expect(sent).toEqual({
      model: 'gpt-4.1-mini',
      temperature: 0.5,
      messages: [{ role: 'user', content: 'hi' }],
      metadata: { seed: '1' },
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
      service_tier: 'flex',
    });
  });

  it('7 a channel may bring its own authorization, and a secret may hold any sign', async () => {
    stack = await startChannels({ main: { credentials: ["sk-$&$1$$`$'"] } });
    await ask();
    expect(stack.simulator.received[0]?.headers.authorization).toBe("Bearer sk-$&$1$$`$'");
    await stack.rewrite(({ channels }) => {
      channels.channels.main.headers = { authorization: 'Token abc' };
    });
    await stack.gateway.reload();
    await ask();
    expect(stack.simulator.received[1]?.headers.authorization).toBe('Token abc');
  });

  it('7 a vendor that knows no stream_options is served by removing them', async () => {
    stack = await startChannels({ main: { parameters: { remove: ['stream_options'] } } });
    const text = await (await ask({ stream: true })).text();
    expect(text).toContain('[DONE]');
    expect(stack.simulator.received[0]?.body).not.toHaveProperty('stream_options');
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'estimated' });
  });
});
