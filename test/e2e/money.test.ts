import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openAccounts } from '../../engine/ledger/index.ts';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';
import { chatHead, expectAtRest, heldBy, hello, openRaw } from './http-raw.ts';

let stack: Stack;
const start = async (options: { edit?: (documents: Documents) => void; balance?: number } = {}) => {
  stack = await startStack(options);
};
afterEach(() => stack.close());

const image = (key = stack.key, more: object = {}) =>
  stack.post(
    '/images/generations',
    { model: 'alpha-image-1k', prompt: 'a fox', ...more },
    { authorization: `Bearer ${key}` },
  );
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; type: string } }).error;
const available = async () => (await heldBy(stack)).account.available;
const balance = async () => {
  await stack.gateway.ledger.flush();
  return (await stack.gateway.ledger.accounts.findUser(stack.userId))?.balance;
};
/** An image of alpha-image-1k in units. */
const price = 100_000;

describe('D holds', () => {
  it('D an empty balance is 429 insufficient_quota, before any vendor hears of it', async () => {
    await start({ balance: price - 1 });
    const response = await image();
    expect(response.status).toBe(429);
    expect(await errorOf(response)).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(response.headers.get('retry-after')).toBeNull();
    const chat = await stack.post('/chat/completions', {
      model: 'demo-chat',
      max_tokens: 1_000_000,
      messages: [{ role: 'user', content: 'x' }],
    });
    expect(await errorOf(chat)).toMatchObject({ code: 'insufficient_quota' });
    expect(stack.simulator.received).toHaveLength(0);
    await expectAtRest(stack, 0);
  });

  it('D the last unit can be spent', async () => {
    await start({ balance: price });
    expect((await image()).status).toBe(200);
    expect(await balance()).toBe(0);
    expect((await image()).status).toBe(429);
    await expectAtRest(stack, 1);
  });

  it('D many at the same time cannot spend more than there is', async () => {
    await start({
      balance: 5 * price + 1,
      edit: ({ channels }) => {
        for (const name of ['simulated-openai', 'simulated-openai-spare'])
          channels.channels[name].models['alpha-image-1k'] = 'gpt-image-2!latency=200';
      },
    });
    const answers = await Promise.all(Array.from({ length: 30 }, () => image()));
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(25).fill(429)]);
    expect(await balance()).toBe(1);
    await expectAtRest(stack, 5);
  });

  it('D two users do not share a balance', async () => {
    await start({ balance: 1 });
    const { accounts } = stack.gateway.ledger;
    const rich = await accounts.createUser({ name: 'rich' });
    await accounts.credit(rich.id, 10 * price, 'test');
    const { secret } = await accounts.createKey({ userId: rich.id, name: 'one', group: 'default' });
    expect((await image()).status).toBe(429);
    expect((await image(secret)).status).toBe(200);
  });

  it('D a key has a quota of its own', async () => {
    await start({ balance: 100 * price });
    const key = await stack.createKey({ quota: 2 * price });
    const answers = await Promise.all(Array.from({ length: 6 }, () => image(key)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 429, 429, 429, 429]);
    expect(await errorOf(answers.find((answer) => answer.status === 429)!)).toMatchObject({
      code: 'insufficient_quota',
    });
    expect((await image()).status).toBe(200);
    expect(await balance()).toBe(97 * price);
    await expectAtRest(stack, 3);
  });

  it('D a credit by another process is spendable within a second', async () => {
    await start({ balance: 1 });
    expect((await image()).status).toBe(429);
    const elsewhere = await openAccounts(stack.data);
    await elsewhere.credit(stack.userId, price, 'top-up');
    await elsewhere.close();
    await expect.poll(async () => (await image()).status, { timeout: 1_000 }).toBe(200);
  });

  it('D a chat holds for every choice that it asks for, and is charged for what was said', async () => {
    // 1000 tokens of output cost 800 units, the prompt hardly anything.
    await start({ balance: 1_700 });
    const ask = (n: number) =>
      stack.post('/chat/completions', {
        model: 'demo-chat',
        n,
        max_tokens: 1_000,
        messages: [{ role: 'user', content: 'x' }],
      });
    expect((await ask(2)).status).toBe(200);
    expect((await ask(3)).status).toBe(429);
    await expectAtRest(stack, 1);
    expect(await balance()).toBeGreaterThan(1_650);
  });

  it('8 the group multiplier and n are in the hold and in the charge', async () => {
    await start({ balance: 4 * price * 0.8 });
    const vip = await stack.createKey({ group: 'vip' });
    expect((await image(vip, { n: 5 })).status).toBe(429);
    expect((await image(vip, { n: 4 })).status).toBe(200);
    expect(await balance()).toBe(0);
    await expectAtRest(stack, 1);
  });
});

describe('D exactly once', () => {
  it('D what fails is released, what is served is charged, what is left is settled as aborted', async () => {
    await start({
      edit: ({ channels, models }) => {
        const faults = {
          'chat-500': 'status=500',
          'chat-cut': 'cut=3',
          'chat-bad': 'malformed=1',
          'chat-late': 'latency=120',
        };
        for (const [name, fault] of Object.entries(faults)) {
          models.models[name] = { family: 'chat', price: { input: '1', output: '2' } };
          for (const channel of ['simulated-openai', 'simulated-openai-spare']) {
            channels.channels[channel].models[name] = `gpt-4.1-mini!${fault}`;
            channels.channels[channel].cooldown = { failures: 100_000, first: '1s', longest: '1s' };
          }
        }
      },
    });
    const models = ['demo-chat', 'chat-500', 'chat-cut', 'chat-bad', 'chat-late'];
    let whole = 0;
    const one = async (index: number) => {
      const stream = index % 2 === 0;
      const content = `Hello [chunks=20]${stream ? '[delay=5]' : ''}`;
      const body = { model: models[index % models.length], stream, messages: [{ role: 'user', content }] };
      const response = await fetch(`${stack.base}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(index % 3 === 0 ? { signal: AbortSignal.timeout(10 + (index % 50)) } : {}),
      });
      const text = await response.text();
      if (response.ok && (stream ? text.endsWith('data: [DONE]\n\n') : text.includes('"usage"'))) whole++;
    };
    const requests = 300;
    let next = 0;
    const worker = async () => {
      while (next < requests)
        await one(next++).catch(() => {
          // Left, or cut: the usage log tells.
        });
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    await expectAtRest(stack);
    const rows = await stack.gateway.ledger.accounts.usage({ limit: 1000 });
    expect(new Set(rows.map((row) => row.requestId)).size).toBe(rows.length);
    // A client that left before its body was read has no row.
    expect(rows.length).toBeLessThanOrEqual(requests);
    expect(rows.length).toBeGreaterThan(requests / 2);
    expect(rows.filter((row) => row.outcome === 'ok').length).toBeGreaterThanOrEqual(whole);
    expect(rows.filter((row) => row.outcome === 'aborted').length).toBeGreaterThan(0);
    expect(rows.filter((row) => row.outcome === 'error').length).toBeGreaterThan(0);
    for (const row of rows) if (row.outcome === 'ok') expect(row.quota).toBeGreaterThan(0);
    for (const row of rows) if (row.model === 'chat-500') expect(row.quota).toBe(0);
    expect(await available()).toBe(await balance());
  });

  it('D the row is there before the client has the last byte', async () => {
    await start();
    for (let round = 0; round < 20; round++) {
      const response = await stack.post('/chat/completions', hello);
      const id = response.headers.get('x-request-id');
      await response.arrayBuffer();
      const rows = await stack.usage();
      expect(rows[0]?.requestId).toBe(id);
    }
  });

  it('D the row tells when the first byte went out, and nothing where none did', async () => {
    await start({
      edit: ({ channels }) => {
        channels.channels['simulated-openai'].models['demo-chat'] = 'gpt-4.1-mini!latency=80';
        delete channels.channels['simulated-openai-spare'];
      },
    });
    await (await stack.post('/chat/completions', hello)).text();
    const [answered] = await stack.usage();
    expect(answered!.firstByteMs).toBeGreaterThanOrEqual(75);
    expect(answered!.firstByteMs).toBeLessThanOrEqual(answered!.durationMs + 50);
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, [`content-length: ${hello.length}`]) + hello);
    await expect.poll(() => stack.simulator.received.length).toBe(2);
    connection.close();
    await expectAtRest(stack, 1);
    expect((await stack.usage())[0]).toMatchObject({ outcome: 'aborted', firstByteMs: null, quota: 0 });
  });

  it('D a client that leaves in the middle of a stream pays for what it got', async () => {
    await start();
    const body = JSON.stringify({
      model: 'demo-chat',
      stream: true,
      messages: [{ role: 'user', content: 'Hello [chunks=200][delay=10]' }],
    });
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, [`content-length: ${body.length}`]) + body);
    await connection.until('chat.completion.chunk');
    await delay(100);
    connection.close();
    await expectAtRest(stack, 1);
    const [row] = await stack.usage();
    expect(row).toMatchObject({ outcome: 'aborted', usageSource: 'estimated', status: 499 });
    expect(row?.outputTokens).toBeGreaterThan(0);
    await expect.poll(() => stack.simulator.received[0]?.aborted).toBe(true);
  });
});
