import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { startGateway } from '../../engine/gateway.ts';
import { silentLog } from '../../engine/observe/log.ts';
import { builtIns } from '../../plugins/index.ts';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';
import { chatHead, expectAtRest, hello, openRaw } from './http-raw.ts';
import { formOf, png, sendForm } from './images-kit.ts';

let stack: Stack;
const start = async (edit?: (documents: Documents) => void) => {
  stack = await startStack(edit === undefined ? {} : { edit });
};
afterEach(() => stack.close());

const once = { 'idempotency-key': 'order-1' };
const chat = (more: object = {}, headers: Record<string, string> = once) =>
  stack.post(
    '/chat/completions',
    { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }], ...more },
    headers,
  );
const charges = async () => (await stack.usage()).filter((row) => row.quota > 0).length;
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;
const slow = { messages: [{ role: 'user', content: 'Hello [delay=60]' }], stream: true };
const slowWhole = ({ channels }: Documents) => {
  for (const name of ['simulated-openai', 'simulated-openai-spare'])
    channels.channels[name].models['demo-chat'] = 'gpt-4.1-mini!latency=400';
};

describe('C Idempotency-Key', () => {
  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
    ['streamed with usage', { stream: true, stream_options: { include_usage: true } }],
  ])('C a %s chat is answered twice with the same bytes and charged once', async (_name, more) => {
    await start();
    const first = await chat(more);
    const bytes = await first.text();
    expect(first.status).toBe(200);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const second = await chat(more);
    expect(second.status).toBe(200);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await second.text()).toBe(bytes);
    expect(stack.simulator.received).toHaveLength(1);
    await expectAtRest(stack, 1);
  });

  it('C an image is made once', async () => {
    await start();
    const ask = () => stack.post('/images/generations', { model: 'alpha-image-1k', prompt: 'a fox' }, once);
    const first = await (await ask()).json();
    expect(await (await ask()).json()).toEqual(first);
    expect(stack.simulator.received).toHaveLength(1);
    await expectAtRest(stack, 1);
  });

  it('C an edit by multipart, whose boundary differs each time, is made once', async () => {
    await start();
    const client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
    const drawn = await client.images.generate({
      model: 'alpha-image-1k',
      prompt: 'a fox',
      response_format: 'b64_json',
    });
    const bytes = Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64');
    const ask = (prompt: string) =>
      client.images.edit(
        { model: 'alpha-image-1k', prompt, image: new File([bytes], 'fox.png', { type: 'image/png' }) },
        { headers: once },
      );
    const first = await ask('a hat');
    expect(await ask('a hat')).toEqual(first);
    await expect(ask('a scarf')).rejects.toMatchObject({ status: 409, code: 'idempotency_conflict' });
    await expectAtRest(stack, 2);
  });

  it.each<[string, readonly [string, number][]]>([
    [
      'another file',
      [
        ['image', 3],
        ['image', 2],
      ],
    ],
    [
      'the files in another order',
      [
        ['image', 2],
        ['image', 1],
      ],
    ],
    ['a file less', [['image', 1]]],
    [
      'a file more',
      [
        ['image', 1],
        ['image', 2],
        ['image', 2],
      ],
    ],
    [
      'the second one as the mask',
      [
        ['image', 1],
        ['mask', 2],
      ],
    ],
  ])('C an edit with %s is another body: 409', async (_what, changed) => {
    await start();
    const send = (files: readonly (readonly [string, number])[]) =>
      sendForm(
        stack,
        formOf(
          { model: 'alpha-image-1k', prompt: 'a hat' },
          files.map(([field, shade]) => ({ field, bytes: png(shade) })),
        ),
        once,
      );
    const first = [
      ['image', 1],
      ['image', 2],
    ] as const;
    expect((await send(first)).status).toBe(200);
    const other = await send(changed);
    expect([other.status, await codeOf(other)]).toEqual([409, 'idempotency_conflict']);
    const again = await send(first);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    await expectAtRest(stack, 1);
  });

  it('C a second request joins the one in flight', async () => {
    await start();
    const answers = await Promise.all(Array.from({ length: 10 }, async () => (await chat(slow)).text()));
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]?.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(stack.simulator.received).toHaveLength(1);
    await expectAtRest(stack, 1);
  });

  it('C it joins over a reload too', async () => {
    await start();
    const first = chat(slow).then((response) => response.text());
    await expect.poll(() => stack.simulator.received.length).toBe(1);
    await stack.rewrite(({ models }) => {
      models.models['demo-chat'].price.output = '3';
    });
    await stack.gateway.reload();
    const second = await chat(slow);
    expect(second.status).toBe(200);
    expect(await second.text()).toBe(await first);
    await expectAtRest(stack, 1);
  });

  it('C the same key with another body is 409, while the first runs and afterwards', async () => {
    await start();
    const first = chat(slow).then((response) => response.text());
    await expect.poll(() => stack.simulator.received.length).toBe(1);
    const during = await chat({ temperature: 1 });
    expect([during.status, await codeOf(during)]).toEqual([409, 'idempotency_conflict']);
    await first;
    const afterwards = await chat({ temperature: 1 });
    expect([afterwards.status, await codeOf(afterwards)]).toEqual([409, 'idempotency_conflict']);
    await expectAtRest(stack, 1);
  });

  it('C keys of clients and routes do not meet', async () => {
    await start();
    await (await chat()).text();
    const other = await stack.createKey();
    const response = await chat({ temperature: 1 }, { ...once, authorization: `Bearer ${other}` });
    expect(response.status).toBe(200);
    await response.text();
    const instruct = await stack.post('/completions', { model: 'demo-instruct', prompt: 'x' }, once);
    expect(instruct.status).toBe(200);
    await instruct.text();
    await expectAtRest(stack, 3);
  });

  it('C a failure is not kept: the next try runs', async () => {
    await start();
    stack.simulator.faults.add({ match: { times: 2 }, fault: { status: 500 } });
    expect((await chat()).status).toBeGreaterThanOrEqual(500);
    const again = await chat();
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    await again.text();
    await expectAtRest(stack, 1);
  });

  it('C nor is a stream that broke', async () => {
    await start();
    stack.simulator.faults.add({ match: { times: 1 }, fault: { cut: 3 } });
    expect(await (await chat({ stream: true })).text()).toContain('"error"');
    const again = await (await chat({ stream: true })).text();
    expect(again.endsWith('data: [DONE]\n\n')).toBe(true);
    await expectAtRest(stack);
  });

  it('C who waits for a request that fails runs by itself', async () => {
    await start(slowWhole);
    stack.simulator.faults.add({ match: { times: 2 }, fault: { status: 500 } });
    const first = chat();
    await expect.poll(() => stack.gateway.snapshot.active).toBe(1);
    const others = Array.from({ length: 5 }, () => chat());
    expect((await first).status).toBeGreaterThanOrEqual(500);
    const bodies = await Promise.all(others.map(async (other) => (await other).text()));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('"choices"');
    await expectAtRest(stack, 1);
  });

  it('C who waits for a client that leaves runs by itself', async () => {
    await start(slowWhole);
    const leaving = new AbortController();
    const first = fetch(`${stack.base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...once },
      body: hello,
      signal: leaving.signal,
    }).catch(() => 'left');
    await expect.poll(() => stack.simulator.received.length).toBe(1);
    const second = stack.post('/chat/completions', hello, once);
    await expect.poll(() => stack.gateway.snapshot.active).toBe(2);
    leaving.abort();
    expect(await first).toBe('left');
    expect((await second).status).toBe(200);
    await (await second).text();
    await expectAtRest(stack, 1);
  });

  it('C who leaves while waiting leaves nothing behind', async () => {
    await start(slowWhole);
    stack.simulator.faults.add({ match: { times: 2 }, fault: { status: 500 } });
    const first = chat();
    await expect.poll(() => stack.simulator.received.length).toBe(1);
    const bytes = chatHead(stack, ['idempotency-key: order-1', `content-length: ${hello.length}`]) + hello;
    const waiting = await openRaw(stack.base);
    waiting.send(bytes);
    await expect.poll(() => stack.gateway.snapshot.active).toBe(2);
    waiting.close();
    await first;
    const again = await chat();
    expect(again.status).toBe(200);
    await again.text();
    await expectAtRest(stack, 1);
  });

  it('C a client that leaves at any moment does not block its key', async () => {
    await start();
    for (let round = 0; round < 30; round++) {
      const connection = await openRaw(stack.base);
      connection.send(chatHead(stack, ['idempotency-key: hasty', `content-length: ${hello.length}`]) + hello);
      await delay(round / 10);
      connection.close();
    }
    const response = await fetch(`${stack.base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', 'idempotency-key': 'hasty' },
      body: hello,
      signal: AbortSignal.timeout(5_000),
    });
    expect(response.status).toBe(200);
    await response.text();
    await expectAtRest(stack);
  });

  it('C a request that waits too long does not own the key afterwards', async () => {
    await start((documents) => {
      slowWhole(documents);
      for (const route of documents.routes.routes) if (route.operation === 'chat') route.timeout = '600ms';
      for (const name of ['simulated-openai', 'simulated-openai-spare'])
        documents.channels.channels[name].models['demo-chat'] = 'gpt-4.1-mini!latency=5000';
    });
    const first = chat();
    await delay(300);
    const second = chat();
    expect((await first).status).toBe(504);
    expect((await second).status).toBe(504);
    await expectAtRest(stack, 0);
    await stack.rewrite(({ channels }) => {
      for (const name of ['simulated-openai', 'simulated-openai-spare'])
        channels.channels[name].models['demo-chat'] = 'gpt-4.1-mini';
    });
    await stack.gateway.reload();
    expect((await chat()).status).toBe(200);
    await expectAtRest(stack, 1);
  });

  it('C an answer larger than maximumBytes is not kept', async () => {
    await start(({ routes }) => {
      routes.chains.chat = ['auth', 'limits', { idempotency: { maximumBytes: 100 } }, 'normalize', 'billing'];
    });
    for (let round = 0; round < 2; round++) {
      const response = await chat();
      expect(response.headers.get('idempotent-replayed')).toBeNull();
      expect((await response.text()).length).toBeGreaterThan(100);
    }
    await expectAtRest(stack, 2);
  });

  it('C a key of more than 255 characters is refused', async () => {
    await start();
    const response = await chat({}, { 'idempotency-key': 'x'.repeat(256) });
    expect(response.status).toBe(400);
    expect((await chat({}, { 'idempotency-key': 'x'.repeat(255) })).status).toBe(200);
  });

  it('C a replay needs a balance no more, and is charged nothing', async () => {
    await start();
    await (await chat()).text();
    await stack.usage();
    const { accounts } = stack.gateway.ledger;
    const { balance } = (await accounts.findUser(stack.userId))!;
    await accounts.credit(stack.userId, -balance, 'all of it');
    await expect.poll(async () => (await chat({}, {})).status).toBe(429);
    expect((await chat()).status).toBe(200);
    expect((await accounts.findUser(stack.userId))?.balance).toBe(0);
    expect(await charges()).toBe(1);
  });

  it('C it survives a restart', async () => {
    await start();
    const first = await (await chat()).text();
    await stack.gateway.close();
    const restarted = await startGateway({
      folder: stack.folder,
      builtIns,
      log: silentLog,
      dataDirectory: stack.data,
      port: 0,
      environment: { SIMULATOR_URL: stack.simulator.url },
    });
    try {
      const response = await fetch(`${restarted.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...once },
        body: hello,
      });
      expect(response.headers.get('idempotent-replayed')).toBe('true');
      expect(await response.text()).toBe(first);
      expect(stack.simulator.received).toHaveLength(1);
    } finally {
      await restarted.close();
    }
  });

  it('C where the answer cannot be kept, the client gets it and is charged', async () => {
    await start();
    await rm(join(stack.data, 'replays'), { recursive: true, force: true });
    await writeFile(join(stack.data, 'replays'), 'no folder');
    await chmod(join(stack.data, 'replays'), 0o400);
    const response = await chat();
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"choices"');
    await expectAtRest(stack, 1);
    expect((await chat()).status).toBe(200);
    await expectAtRest(stack, 2);
  });
});
