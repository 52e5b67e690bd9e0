import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const deep = '['.repeat(20_000) + ']'.repeat(20_000);

it.each([
  ['/rerank', 'an unknown field', `{"model":"demo-rerank","query":"a","documents":["b"],"extra":${deep}}`],
  ['/rerank', 'documents', `{"model":"demo-rerank-jina","query":"a","documents":${deep}}`],
  ['/moderations', 'input', `{"input":${deep}}`],
  ['/videos', 'input_reference', `{"model":"demo-video","prompt":"p","input_reference":${deep}}`],
  ['/videos', 'n', `{"model":"demo-video-veo","prompt":"p","n":${deep}}`],
  ['/responses', 'metadata', `{"model":"alpha-image-1k","input":"p","metadata":${deep}}`],
])('7 POST /v1%s: %s nested 20,000 levels deep is 400 and costs nothing', async (path, _field, body) => {
  const response = await stack.post(path, body);
  expect(response.status).toBe(400);
  await response.text();
  expect((await stack.usage()).filter(({ quota }) => quota > 0)).toEqual([]);
});

it.each(['constructor', '__proto__', 'toString'])(
  '7 POST /v1/videos: the resolution `%s` is refused by name',
  async (word) => {
    const response = await stack.post('/videos', { model: 'demo-video', prompt: 'p', resolution: word });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'resolution' } });
  },
);
