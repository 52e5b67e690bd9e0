/** What must not pass in silence: pictures that nobody would look at, amounts that nobody can count. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { eventually, expectError, generate } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    edit({ channels, models }) {
      models.families.plain = { normalizer: 'passthrough', operations: ['images.generate'] };
      models.models['plain-image'] = { family: 'plain', price: { image: '0.20' } };
      channels.channels['simulated-openai'].models['plain-image'] = 'gpt-image-2';
    },
  });
});
beforeEach(() => stack.simulator.reset());
afterAll(() => stack.close());

it.each(['beta-3-pro-image', 'gamma-imagine-image'])(
  '2.1 %s: pictures in a JSON generation are refused, not left out',
  async (model) => {
    for (const name of ['image', 'images', 'mask']) {
      const answer = await generate(stack, { model, [name]: 'data:image/png;base64,AAAA' });
      await expectError(answer, 400, 'unsupported_parameter', name);
    }
    expect(stack.simulator.received).toHaveLength(0);
  },
);

it('8 more images than can be counted are more than anybody can pay: 429', async () => {
  const answer = await generate(stack, { model: 'plain-image', n: Number.MAX_SAFE_INTEGER });
  await expectError(answer, 429, 'insufficient_quota');
});

it('C the usage row of a client that left names no failure of the gateway', async () => {
  stack.simulator.faults.add({ fault: { latency: 2000 } });
  const controller = new AbortController();
  const asked = fetch(`${stack.base}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'alpha-image-1k', prompt: 'a fox' }),
    signal: controller.signal,
  });
  await eventually(
    () => stack.simulator.received.length,
    (count) => count > 0,
  );
  controller.abort();
  await expect(asked).rejects.toThrow();
  await eventually(
    () => stack.gateway.snapshot.active,
    (active) => active === 0,
  );
  const [row] = await stack.usage();
  expect(row).toMatchObject({ outcome: 'aborted', status: 499, code: null, quota: 0 });
});
