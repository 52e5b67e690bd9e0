import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../engine/plugin.ts';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';
import { expectAtRest } from './http-raw.ts';

let stack: Stack;
const logged: { level: string; message: string; fields: object }[] = [];
const keep = (level: string) => (fields: object, message: string) => void logged.push({ level, message, fields });
const log: Log = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
const start = async (edit?: (documents: Documents) => void) => {
  logged.length = 0;
  stack = await startStack({ log, ...(edit === undefined ? {} : { edit }) });
  // The watch itself takes a moment to stand.
  await delay(300);
};
afterEach(() => stack.close());

const ids = async () => {
  const response = await fetch(`${stack.base}/models`, { headers: { authorization: `Bearer ${stack.key}` } });
  return ((await response.json()) as { data: { id: string }[] }).data.map((entry) => entry.id);
};
const readiness = async () => {
  const response = await fetch(`${stack.gateway.url}/readyz`);
  return {
    status: response.status,
    body: (await response.json()) as { ready: boolean; configuration: { current: boolean; faults: string[] } },
  };
};
const chat = (model = 'demo-chat', content = 'Hello', stream = false) =>
  stack.post('/chat/completions', { model, stream, messages: [{ role: 'user', content }] });
const addModel = (name: string) =>
  stack.rewrite(({ models, channels }) => {
    models.models[name] = { family: 'chat', price: { input: '1', output: '1' } };
    channels.channels['simulated-openai'].models[name] = 'gpt-4.1-mini';
  });

describe('B hot reload', () => {
  it('B a new model is live soon, by an edit of the files alone', async () => {
    await start();
    await addModel('new-chat');
    // Under a second on a machine that is not busy.
    await expect.poll(ids, { timeout: 10_000, interval: 20 }).toContain('new-chat');
    expect((await chat('new-chat')).status).toBe(200);
    // It is told when it is in use.
    const told = () => logged.find((line) => line.message === 'configuration reloaded')?.fields;
    await expect.poll(told).toMatchObject({
      changes: expect.arrayContaining([expect.stringContaining('+new-chat')]),
    });
  });

  it('B a model that is taken out is gone, a price that is changed is charged', async () => {
    await start();
    await stack.rewrite(({ models, channels }) => {
      models.models['alpha-image-1k'].price.image = '0.25';
      delete models.models['demo-instruct'];
      for (const channel of Object.values(channels.channels) as { models: Record<string, string> }[])
        delete channel.models['demo-instruct'];
    });
    await stack.gateway.reload();
    expect(await ids()).not.toContain('demo-instruct');
    await stack.post('/images/generations', { model: 'alpha-image-1k', prompt: 'a fox' });
    const [row] = await stack.usage();
    expect(row?.quota).toBe(125_000);
  });

  it.each([
    ['models.yaml', 'models: [', /models\.yaml:\d+:\d+ /],
    ['models.yaml', 'models: { broken: { family: alhpa, price: { image: "1" } } }', /families/],
    ['channels.yaml', '', /channels\.yaml/],
    ['gateway.yaml', 'lissten: {}', /gateway\.yaml:1:1 .*lissten.*did you mean .*listen/],
  ])('B a broken %s (%j) keeps the old configuration and tells why', async (file, text, expected) => {
    await start();
    const before = await readFile(join(stack.folder, file), 'utf8');
    await writeFile(join(stack.folder, file), text);
    await expect.poll(async () => (await readiness()).body.configuration.current, { timeout: 3_000 }).toBe(false);
    const { status, body } = await readiness();
    expect([status, body.ready]).toEqual([200, true]);
    expect(body.configuration.faults.join('\n')).toMatch(expected);
    expect(logged.some((line) => line.level === 'error' && /not reloaded/.test(line.message))).toBe(true);
    expect((await chat()).status).toBe(200);
    await writeFile(join(stack.folder, file), before);
    await expect.poll(async () => (await readiness()).body.configuration.current, { timeout: 3_000 }).toBe(true);
    await expectAtRest(stack, 1);
  });

  it('B a file that vanishes for a moment changes nothing', async () => {
    await start();
    const path = join(stack.folder, 'models.yaml');
    const text = await readFile(path, 'utf8');
    await writeFile(path, '');
    await delay(250);
    await writeFile(path, text);
    await expect.poll(async () => (await readiness()).body.configuration.current, { timeout: 3_000 }).toBe(true);
    expect((await chat()).status).toBe(200);
  });

  it('B a request in flight ends on the snapshot it began with; the old one is then closed', async () => {
    await start();
    const old = stack.gateway.snapshot;
    const streaming = await chat('demo-reasoner', 'Hello [chunks=20][delay=40]', true);
    let closed = false;
    void old.done.then(() => {
      closed = true;
    });
    await stack.rewrite(({ models, channels }) => {
      delete models.models['demo-reasoner'];
      for (const channel of Object.values(channels.channels) as { models: Record<string, string> }[])
        delete channel.models['demo-reasoner'];
    });
    await stack.gateway.reload();
    expect(stack.gateway.snapshot).not.toBe(old);
    expect((await chat('demo-reasoner')).status).toBe(404);
    expect([old.active, closed]).toEqual([1, false]);
    expect((await streaming.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    await old.done;
    expect(old.active).toBe(0);
    await expectAtRest(stack, 1);
  });

  it('B 20 reloads under load: no request fails, every old snapshot is closed', async () => {
    await start();
    const snapshots = new Set([stack.gateway.snapshot]);
    const statuses: number[] = [];
    let going = true;
    const worker = async (stream: boolean) => {
      while (going) {
        const response = await chat('demo-chat', stream ? 'Hello [chunks=10][delay=5]' : 'Hello', stream);
        const text = await response.text();
        statuses.push(response.ok && stream && !text.endsWith('data: [DONE]\n\n') ? -1 : response.status);
      }
    };
    const workers = [...Array(8).keys()].map((index) => worker(index % 2 === 0));
    for (let round = 0; round < 20; round++) {
      await addModel(`round-${round}`);
      await stack.gateway.reload();
      snapshots.add(stack.gateway.snapshot);
    }
    going = false;
    await Promise.all(workers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(statuses.length).toBeGreaterThan(20);
    snapshots.delete(stack.gateway.snapshot);
    await Promise.all([...snapshots].map((snapshot) => snapshot.done));
    await expectAtRest(stack);
    const rows = await stack.gateway.ledger.accounts.usage({ limit: 10_000 });
    expect(rows.filter((row) => row.quota > 0)).toHaveLength(statuses.length);
  });

  it('B 50 concurrent reloads end in the last state', async () => {
    await start();
    await addModel('last-chat');
    await Promise.all(Array.from({ length: 50 }, () => stack.gateway.reload()));
    expect(await ids()).toContain('last-chat');
  });
});

describe("B operators' plugins", () => {
  const plugin = (status: number) => `
let closed = 0;
export default {
  name: 'teapot', summary: 'answers by itself',
  options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => ({
    onRequest: () => ({ status: ${status}, body: JSON.stringify({ closed }) }),
    close() { closed++; },
  }),
};`;
  const withPlugin = ({ routes }: Documents) => {
    routes.plugins = ['./teapot.mjs'];
    routes.chains.chat = ['auth', 'teapot', 'limits', 'idempotency', 'normalize', 'billing'];
  };

  it('B a plugin file is loaded anew when it changes', async () => {
    await start();
    await writeFile(join(stack.folder, 'teapot.mjs'), plugin(418));
    await stack.rewrite(withPlugin);
    await expect.poll(async () => (await chat()).status, { timeout: 3_000 }).toBe(418);
    await writeFile(join(stack.folder, 'teapot.mjs'), plugin(419));
    await expect.poll(async () => (await chat()).status, { timeout: 3_000 }).toBe(419);
    await expectAtRest(stack);
  });

  it('B a plugin that does not load keeps the old configuration until it is mended', async () => {
    await start();
    await writeFile(join(stack.folder, 'teapot.mjs'), 'export default {{');
    await stack.rewrite(withPlugin);
    await expect
      .poll(async () => (await readiness()).body.configuration.faults.join(), { timeout: 3_000 })
      .toContain('plugins[0]');
    expect((await chat()).status).toBe(200);
    await writeFile(join(stack.folder, 'teapot.mjs'), plugin(418));
    await expect.poll(async () => (await chat()).status, { timeout: 3_000 }).toBe(418);
  });

  it.each([
    ['create throws', "create() { throw new Error('no luck'); }"],
    ['create rejects', "async create() { throw new Error('no luck'); }"],
  ])('B a plugin whose %s keeps the old configuration', async (_name, create) => {
    await start();
    await writeFile(
      join(stack.folder, 'teapot.mjs'),
      `export default { name: 'teapot', summary: 's', options: { type: 'object', additionalProperties: false, properties: {} }, ${create} };`,
    );
    await stack.rewrite(withPlugin);
    await expect
      .poll(async () => (await readiness()).body.configuration.faults.join(), { timeout: 3_000 })
      .toMatch(/routes\.yaml:\d+:\d+.*teapot.*no luck/);
    expect((await chat()).status).toBe(200);
  });

  it.each([
    ['onHead throws', "onHead() { throw new Error('secret'); }"],
    ['onHead rejects', "async onHead() { throw new Error('secret'); }"],
    ['onRequest throws', "onRequest() { throw new Error('secret'); }"],
    ['onRequest rejects', "async onRequest() { throw new Error('secret'); }"],
    ['onRequest answers a number', 'onRequest() { return 5; }'],
    ['onRequest answers null', 'onRequest() { return null; }'],
    ['onRequest answers without a body', 'onRequest() { return { status: 200 }; }'],
    ['onRequest answers a status that is none', "async onRequest() { return { status: 99, body: '' }; }"],
  ])('B where %s the client gets 500 without the reason, the log gets it', async (_name, hook) => {
    await start();
    await writeFile(join(stack.folder, 'teapot.mjs'), failing(hook));
    await stack.rewrite(withPlugin);
    await stack.gateway.reload();
    const response = await chat();
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(logged.some((line) => line.level === 'error')).toBe(true);
    await expectAtRest(stack, 0);
  });

  it.each([
    ['onSettled throws', "onSettled() { throw new Error('secret'); }"],
    ['onSettled rejects', "async onSettled() { throw new Error('secret'); }"],
    ['close throws', "close() { throw new Error('secret'); }"],
    ['close rejects', "async close() { throw new Error('secret'); }"],
  ])('B where %s the request is served and charged, the log gets the reason', async (_name, hook) => {
    await start();
    await writeFile(join(stack.folder, 'teapot.mjs'), failing(hook));
    await stack.rewrite(withPlugin);
    await stack.gateway.reload();
    const old = stack.gateway.snapshot;
    for (const stream of [true, false]) {
      const response = await chat('demo-chat', 'Hello', stream);
      expect(response.status).toBe(200);
      expect(await response.text()).not.toContain('"error"');
    }
    await stack.gateway.reload();
    await old.done;
    expect(logged.some((line) => line.level === 'error')).toBe(true);
    await expectAtRest(stack, 2);
  });

  const failing = (hook: string) =>
    `export default { name: 'teapot', summary: 's', options: { type: 'object', additionalProperties: false, properties: {} }, create: () => ({ ${hook} }) };`;
});
