/** How many videos of one key may be in the making. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { ask, available, create, ended, startVideoStack } from './support.ts';

let stack: Stack;
beforeEach(async () => {
  stack = await startVideoStack({
    edit: ({ gateway }) => {
      gateway.videos.openPerKey = 2;
    },
  });
});
afterEach(() => stack.close());

const asked = () => stack.simulator.received.filter(({ method }) => method === 'POST').length;

it('7 POST /v1/videos beyond `videos.openPerKey` is 429, holds nothing and reaches no vendor', async () => {
  const [first] = [
    await create(stack, { prompt: 'A kite [polls=3]' }),
    await create(stack, { prompt: 'Another [polls=60]' }),
  ];
  const before = await available(stack);
  const refused = await create(stack, {});
  expect(refused).toMatchObject({
    status: 429,
    body: { error: { code: 'concurrency_limit_exceeded', type: 'requests' } },
  });
  expect(refused.body.error.message).toContain('2 videos in the making');
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(asked()).toBe(2);
  expect(await available(stack)).toBe(before);
  expect((await ask(stack, 'GET', '/videos')).body.data).toHaveLength(2);
  // Another key has its own, and room is as soon as one has ended.
  const other = await stack.createKey();
  const json = { model: 'demo-video', prompt: 'A kite' };
  expect((await ask(stack, 'POST', '/videos', { key: other, json })).status).toBe(200);
  await ended(stack, first!.body.id);
  expect((await create(stack, {})).status).toBe(200);
});

it('7 POST /v1/videos at the same time: as many as may are accepted', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => create(stack, { prompt: 'A kite [polls=60]' })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, ...Array.from({ length: 10 }, () => 429)]);
  expect(asked()).toBe(2);
});

it('a submission that no vendor accepted counts no more', async () => {
  stack.simulator.faults.add({ match: { path: '/openai/v1/videos', times: 3 }, fault: { status: 400 } });
  for (let index = 0; index < 3; index++) expect((await create(stack, {})).status).toBe(400);
  expect((await create(stack, {})).status).toBe(200);
});
