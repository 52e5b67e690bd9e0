import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectAtRest } from './http-raw.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    edit: (documents) => {
      const { channels, groups } = documents.channels;
      groups.gemini = { multiplier: '1' };
      channels['simulated-gemini'].groups.push('gemini');
      for (const name of ['vendor/line/model:1', 'no-channel']) {
        documents.models.models[name] = { family: 'chat', price: { input: '1', output: '1' } };
        if (name !== 'no-channel') channels['simulated-openai'].models[name] = 'gpt-4.1-mini';
      }
      // Served by an account whose credential is not set: configured, but nobody can use it.
      channels['openai-production'].models['no-channel'] = 'gpt-4.1-mini';
    },
  });
});
afterAll(async () => {
  await expectAtRest(stack, 0);
  await stack.close();
});

interface Entry {
  id: string;
  object: string;
  created: number;
  owned_by: string;
}
const get = (path: string, key = stack.key) =>
  fetch(`${stack.base}${path}`, { headers: { authorization: `Bearer ${key}` } });
const list = async (key = stack.key) => {
  const response = await get('/models', key);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = (await response.json()) as { object: string; data: Entry[] };
  expect(body.object).toBe('list');
  return body.data;
};
const ids = async (key?: string) => (await list(key)).map((entry) => entry.id);

describe('4.5 GET /v1/models', () => {
  it('2.10 each entry has a full name and what OpenAI clients require', async () => {
    const data = await list();
    expect(data.length).toBeGreaterThan(5);
    for (const entry of data)
      expect(entry).toEqual({
        id: expect.stringMatching(/./),
        object: 'model',
        created: expect.any(Number),
        owned_by: expect.any(String),
      });
    expect(new Set(data.map((entry) => entry.id)).size).toBe(data.length);
    for (const entry of data) expect(Number.isInteger(entry.created)).toBe(true);
  });

  it('4.5 the order is the same each time', async () => {
    expect(await ids()).toEqual(await ids());
  });

  it('4.5 without a key: 401', async () => {
    expect((await fetch(`${stack.base}/models`)).status).toBe(401);
    expect((await fetch(`${stack.base}/models/demo-chat`)).status).toBe(401);
  });

  it('4.5 a query changes nothing', async () => {
    const body = (await (await get('/models?limit=1&after=x')).json()) as { data: Entry[] };
    expect(body.data.length).toBe((await list()).length);
  });

  it('2.10 filtered by channel: what no channel serves is not listed', async () => {
    expect(await ids()).not.toContain('no-channel');
  });

  it('2.10 filtered by key', async () => {
    const key = await stack.createKey({ models: ['demo-chat', 'alpha-image-1k', 'no-channel', 'nope'] });
    expect((await ids(key)).sort()).toEqual(['alpha-image-1k', 'demo-chat']);
    expect(await ids(await stack.createKey({ models: [] }))).toEqual([]);
  });

  it('2.10 filtered by group', async () => {
    const key = await stack.createKey({ group: 'gemini' });
    const served = [
      ...stack.gateway.configuration.channels.find(({ name }) => name === 'simulated-gemini')!.models.keys(),
    ];
    expect((await ids(key)).sort()).toEqual(served.sort());
    expect(served).toContain('beta-3-pro-image');
  });

  it('2.10 every model of the list passes the check of its route', async () => {
    for (const model of await ids()) {
      const { operations } = stack.gateway.snapshot.models.get(model)!;
      const { route } = stack.gateway.snapshot.routes.find((one) => one.route.operation === operations[0])!;
      // These two take no JSON; their own tests ask them.
      if (route.operation === 'realtime' || route.operation === 'audio.transcriptions') continue;
      const answer = await stack.post(route.path.slice('/v1'.length), { model });
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: { param: string } };
      expect(error.param).not.toBe('model');
    }
  });
});

describe('4.1 GET /v1/models/:model', () => {
  it.each([
    ['demo-chat', 'demo-chat'],
    ['vendor/line/model:1', 'vendor/line/model:1'],
    ['vendor%2Fline%2Fmodel:1', 'vendor/line/model:1'],
    ['vendor%2fline/model%3A1', 'vendor/line/model:1'],
    ['demo%2Dchat', 'demo-chat'],
    ['demo-chat?x=1', 'demo-chat'],
  ])('4.1 /v1/models/%s is %s', async (path, id) => {
    const response = await get(`/models/${path}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual((await list()).find((entry) => entry.id === id));
  });

  it('4.1 the official SDK, which encodes the name', async () => {
    const client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
    expect((await client.models.retrieve('vendor/line/model:1')).id).toBe('vendor/line/model:1');
    await expect(client.models.retrieve('nope')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it.each(['nope', '%ZZ', '%', '%00', '..%2f..%2fetc', 'constructor', '__proto__', 'demo-chat%2F', 'x'.repeat(5_000)])(
    '4.1 /v1/models/%s is 404 and hints at the list',
    async (name) => {
      const response = await get(`/models/${name}`);
      expect(response.status).toBe(404);
      const { error } = (await response.json()) as { error: Record<string, string> };
      expect(error).toMatchObject({ code: 'model_not_found', param: 'model', type: 'invalid_request_error' });
      expect(error.message).toContain('GET /v1/models');
      expect(error.message?.length).toBeLessThan(400);
    },
  );

  it('2.10 a model that is hidden from a key is as unknown as one that is not there', async () => {
    const narrow = await stack.createKey({ models: ['demo-chat'] });
    const shape = async (response: Response, name: string) =>
      JSON.stringify(await response.json())
        .replaceAll(name, 'NAME')
        .replace(/req_\w+/, 'ID');
    const hidden = await get('/models/demo-reasoner', narrow);
    const missing = await get('/models/demo-unicorn', narrow);
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(await shape(hidden, 'demo-reasoner')).toBe(await shape(missing, 'demo-unicorn'));
    const other = await stack.createKey({ group: 'gemini' });
    expect((await get('/models/demo-chat', other)).status).toBe(404);
    expect((await get('/models/no-channel')).status).toBe(404);
  });
});
