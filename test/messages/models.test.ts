/** `GET /v1/models` as Anthropic's clients read it. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { clientOf } from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const get = (path: string, headers: Record<string, string>) => fetch(`${stack.base}${path}`, { headers });
const openAiIds = async (): Promise<string[]> => {
  const response = await get('/models', { authorization: `Bearer ${stack.key}` });
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
};

describe('4.5 GET /v1/models in Anthropic’s form', () => {
  it('lists what the key may use, page by page', async () => {
    const ids: string[] = [];
    for await (const model of clientOf(stack).models.list({ limit: 3 })) {
      expect(model).toMatchObject({ type: 'model', display_name: model.id, lifecycle: 'active', capabilities: null });
      expect(new Date(model.created_at).getTime()).toBeGreaterThan(0);
      ids.push(model.id);
    }
    expect(ids).toEqual(await openAiIds());
    expect(ids.length).toBeGreaterThan(6);
  });

  it('pages go both ways', async () => {
    const ids = await openAiIds();
    const client = clientOf(stack);
    const middle = await client.models.list({ after_id: ids[1]!, limit: 2 });
    expect(middle).toMatchObject({ first_id: ids[2], last_id: ids[3], has_more: true });
    const before = await client.models.list({ before_id: ids[2]!, limit: 5 });
    expect(before.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(before.has_more).toBe(false);
    const last = await client.models.list({ after_id: ids.at(-1)! });
    expect(last).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
  });

  it('retrieves one, and tells in its own form where there is none', async () => {
    const model = await clientOf(stack).models.retrieve('demo-claude');
    expect(model).toMatchObject({ id: 'demo-claude', type: 'model', max_tokens: 128000 });
    const error = await clientOf(stack)
      .models.retrieve('nobody')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect(error).toMatchObject({
      requestID: expect.stringMatching(/^req_/),
      error: { type: 'error', error: { type: 'not_found_error' } },
    });
  });

  it('a key in x-api-key alone asks for it, a Bearer key does not', async () => {
    const own = (await (await get('/models', { 'x-api-key': stack.key })).json()) as { first_id: string };
    expect(own.first_id).toBe((await openAiIds())[0]);
    const bearer = await get('/models', { authorization: `Bearer ${stack.key}`, 'x-api-key': stack.key });
    expect(await bearer.json()).toMatchObject({ object: 'list' });
    const versioned = await get('/models', { authorization: `Bearer ${stack.key}`, 'anthropic-version': '2023-06-01' });
    expect(await versioned.json()).toHaveProperty('has_more');
  });

  it.each(['limit=0', 'limit=many', 'limit=1001', 'after_id=nobody', 'before_id=nobody'])(
    '?%s is 400',
    async (query) => {
      expect((await get(`/models?${query}`, { 'x-api-key': stack.key })).status).toBe(400);
    },
  );
});
