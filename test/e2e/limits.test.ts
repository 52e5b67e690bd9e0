import { afterEach, describe, expect, it } from 'vitest';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';
import { chatHead, expectAtRest, hello, openRaw } from './http-raw.ts';

let stack: Stack;
const start = async (edit?: (documents: Documents) => void) => {
  stack = await startStack(edit === undefined ? {} : { edit });
};
afterEach(() => stack.close());

async function ask(key: string, more: object = {}, content = 'Hello') {
  const response = await stack.post(
    '/chat/completions',
    { model: 'demo-chat', messages: [{ role: 'user', content }], ...more },
    { authorization: `Bearer ${key}` },
  );
  const text = await response.text();
  const error = response.ok ? null : (JSON.parse(text) as { error: { code: string; type: string } }).error;
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    code: error?.code,
    type: error?.type,
    text,
  };
}

/** Where a document says the limits of the default group, or of demo-chat. */
const setLimits = ({ channels, models }: Documents, what: 'group' | 'model', limits: object): void => {
  const owner = what === 'group' ? channels.groups.default : models.models['demo-chat'];
  owner.limits = limits;
};

const slowChannels = ({ channels }: Documents, fault = 'latency=300') => {
  for (const name of ['simulated-openai', 'simulated-openai-spare']) {
    channels.channels[name].models['demo-chat'] = `gpt-4.1-mini!${fault}`;
    channels.channels[name].cooldown = { failures: 1000, first: '1s', longest: '1s' };
  }
};

describe('C requests per minute', () => {
  it('C per key: 429 with the seconds to wait; other keys go on', async () => {
    await start();
    const key = await stack.createKey({ limits: { requestsPerMinute: 3 } });
    for (let round = 0; round < 3; round++) expect((await ask(key)).status).toBe(200);
    const refused = await ask(key);
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests' });
    expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(1);
    expect(Number(refused.retryAfter)).toBeLessThanOrEqual(20);
    expect(refused.text).toContain('this key');
    expect((await ask(stack.key)).status).toBe(200);
    await expectAtRest(stack, 4);
  });

  it('C it is refilled as time goes by', async () => {
    await start();
    const key = await stack.createKey({ limits: { requestsPerMinute: 60 } });
    const answers = await Promise.all(Array.from({ length: 65 }, () => ask(key)));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.retryAfter).toBe('1');
    await expect.poll(async () => (await ask(key)).status, { timeout: 2_500, interval: 300 }).toBe(200);
  });

  it.each(['group', 'model'] as const)('C per %s, over all keys', async (what) => {
    await start((documents) => setLimits(documents, what, { requestsPerMinute: 2 }));
    const keys = [await stack.createKey(), await stack.createKey(), await stack.createKey()];
    const answers = [];
    for (const key of keys) answers.push(await ask(key));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429]);
    expect(answers[2]?.text).toContain(`this ${what}`);
    await expectAtRest(stack, 2);
  });

  it('C a change of the limit is live with a reload, what was used stays used', async () => {
    await start(({ channels }) => {
      channels.groups.default.limits = { requestsPerMinute: 2 };
    });
    for (let round = 0; round < 2; round++) expect((await ask(stack.key)).status).toBe(200);
    expect((await ask(stack.key)).status).toBe(429);
    await stack.rewrite(({ channels }) => {
      channels.groups.default.limits = { requestsPerMinute: 3 };
    });
    await stack.gateway.reload();
    expect((await ask(stack.key)).status).toBe(200);
    expect((await ask(stack.key)).status).toBe(429);
    await stack.rewrite(({ channels }) => {
      delete channels.groups.default.limits;
    });
    await stack.gateway.reload();
    expect((await ask(stack.key)).status).toBe(200);
  });

  it('C images are limited too', async () => {
    await start(({ models }) => {
      models.models['beta-3-pro-image'].limits = { requestsPerMinute: 1 };
    });
    const image = () => stack.post('/images/generations', { model: 'beta-3-pro-image', prompt: 'a fox' });
    expect((await image()).status).toBe(200);
    const refused = await image();
    expect([refused.status, refused.headers.get('retry-after') !== null]).toEqual([429, true]);
    await expectAtRest(stack, 1);
  });

  it('C unknown models and bad bodies take no place', async () => {
    await start();
    const key = await stack.createKey({ limits: { requestsPerMinute: 1 } });
    for (let round = 0; round < 5; round++) expect((await ask(key, { model: 'nope' })).status).toBe(404);
    expect((await ask(key)).status).toBe(200);
  });
});

describe('C tokens per minute', () => {
  it('C what an answer used counts against the next request', async () => {
    await start();
    const key = await stack.createKey({ limits: { tokensPerMinute: 100 } });
    expect((await ask(key, {}, 'Hello [tokens=500]')).status).toBe(200);
    const refused = await ask(key);
    expect(refused).toMatchObject({ status: 429, code: 'token_limit_exceeded', type: 'tokens' });
    expect(Number(refused.retryAfter)).toBeGreaterThan(60);
    await expectAtRest(stack, 1);
  });

  it('C a failed request gives its tokens back', async () => {
    await start((documents) => slowChannels(documents, 'status=400'));
    const key = await stack.createKey({ limits: { tokensPerMinute: 2_000 } });
    for (let round = 0; round < 5; round++) expect((await ask(key, {}, 'x'.repeat(4_000))).status).toBe(400);
    await expectAtRest(stack, 0);
  });

  it('C one request larger than the limit passes when nothing was used, and is waited for', async () => {
    await start();
    const key = await stack.createKey({ limits: { tokensPerMinute: 100 } });
    expect((await ask(key, {}, 'x'.repeat(2_000))).status).toBe(200);
    expect((await ask(key)).status).toBe(429);
  });
});

describe('C concurrency', () => {
  it.each(['key', 'group', 'model'] as const)(
    'C per %s: the third at the same time is 429, afterwards there is room',
    async (what) => {
      await start((documents) => {
        slowChannels(documents);
        if (what !== 'key') setLimits(documents, what, { concurrency: 2 });
      });
      const key = what === 'key' ? await stack.createKey({ limits: { concurrency: 2 } }) : stack.key;
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all([ask(key), ask(key), ask(key)]);
        expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 429]);
        const refused = answers.find((answer) => answer.status === 429);
        expect(refused).toMatchObject({ code: 'concurrency_limit_exceeded', retryAfter: '1' });
        expect(refused?.text).toContain(`this ${what}`);
      }
      await expectAtRest(stack, 6);
    },
  );

  it.each([
    ['an error', 'status=400', false],
    ['a broken stream', 'cut=2', true],
    ['a refused connection', 'reset=read', false],
    ['a malformed answer', 'malformed=1', false],
  ])('C the place is given back after %s', async (_name, fault, stream) => {
    await start((documents) => slowChannels(documents, fault));
    const key = await stack.createKey({ limits: { concurrency: 1 } });
    for (let round = 0; round < 3; round++) expect((await ask(key, { stream })).status).not.toBe(429);
    await expectAtRest(stack);
  });

  it('C the place is given back after an abort, before the answer and within it', async () => {
    await start((documents) => slowChannels(documents, 'latency=200'));
    const key = await stack.createKey({ limits: { concurrency: 1 } });
    const streamed = JSON.stringify({
      model: 'demo-chat',
      stream: true,
      messages: [{ role: 'user', content: '[chunks=50][delay=20]' }],
    });
    for (const [body, sign] of [
      [hello, null],
      [streamed, 'chat.completion.chunk'],
    ] as const) {
      const connection = await openRaw(stack.base);
      connection.send(chatHead(stack, [`content-length: ${body.length}`]).replace(stack.key, key) + body);
      await expect.poll(() => stack.gateway.snapshot.active).toBe(1);
      expect((await ask(key)).status).toBe(429);
      if (sign !== null) await connection.until(sign);
      connection.close();
      await expect.poll(() => stack.gateway.snapshot.active).toBe(0);
    }
    expect((await ask(key)).status).toBe(200);
    await expectAtRest(stack);
  });

  it('C a place is given back where a later limit, the quota or the vendor refuses', async () => {
    await start((documents) => {
      slowChannels(documents, 'latency=100');
      documents.models.models['demo-chat'].limits = { requestsPerMinute: 3 };
    });
    const key = await stack.createKey({ limits: { concurrency: 1 } });
    for (let round = 0; round < 3; round++) expect((await ask(key)).status).toBe(200);
    expect(await ask(key)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(await ask(key)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    const poor = await stack.createKey({ quota: 1, limits: { concurrency: 1 } });
    await stack.rewrite(({ models }) => {
      delete models.models['demo-chat'].limits;
    });
    await stack.gateway.reload();
    for (let round = 0; round < 2; round++) expect(await ask(poor)).toMatchObject({ code: 'insufficient_quota' });
    await expectAtRest(stack);
  });

  it.each([
    ['rate_limit_exceeded', { requestsPerMinute: 2 }],
    ['token_limit_exceeded', { tokensPerMinute: 40 }],
  ])('C a place is given back where the same key’s own limit refuses: %s', async (code, limits) => {
    await start();
    const key = await stack.createKey({ limits: { concurrency: 1, ...limits } });
    for (let round = 0; round < 2; round++) expect((await ask(key)).status).toBe(200);
    for (let round = 0; round < 3; round++) expect(await ask(key)).toMatchObject({ status: 429, code });
    await expectAtRest(stack, 2);
  });

  it('C a place outlives a reload: it is the same one', async () => {
    await start((documents) => slowChannels(documents, 'latency=600'));
    const key = await stack.createKey({ limits: { concurrency: 1 } });
    const first = ask(key);
    await expect.poll(() => stack.simulator.received.length).toBe(1);
    await stack.gateway.reload();
    expect((await ask(key)).status).toBe(429);
    expect((await first).status).toBe(200);
    expect((await ask(key)).status).toBe(200);
    await expectAtRest(stack, 2);
  });
});
