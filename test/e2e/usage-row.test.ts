/** What a usage row says of a request that went well: who, what, where, how much, how long. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
let key: string;

beforeAll(async () => {
  stack = await startStack();
  key = await stack.createKey({ group: 'vip' });
  stack.simulator.faults.add({ fault: { delay: 40 } });
});
afterAll(() => stack.close());

/** Of a stream: the first byte comes early, the last one late. */
it.each([
  [
    '/chat/completions',
    { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello [chunks=6]' }] },
    { images: 0, channel: expect.stringMatching(/^simulated-openai/) },
  ],
  [
    '/images/generations',
    { model: 'alpha-image-1k', prompt: 'a fox', partial_images: 2 },
    { images: 1, quota: 80_000, channel: expect.stringMatching(/^simulated-openai/) },
  ],
])('D the row of a streamed %s has every field', async (path, body, wanted) => {
  const began = Date.now();
  const answer = await stack.post(path, { ...body, stream: true }, { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(200);
  await answer.text();
  const [row] = await stack.usage();
  expect(row).toMatchObject({
    requestId: answer.headers.get('x-request-id'),
    userId: stack.userId,
    keyId: 2,
    endpoint: `/v1${path}`,
    model: body.model,
    group: 'vip',
    multiplier: '0.8',
    attempts: 1,
    status: 200,
    outcome: 'ok',
    code: null,
    usageSource: 'measured',
    ...wanted,
  });
  const { time, durationMs, firstByteMs, inputTokens, outputTokens, quota } = row!;
  expect(Math.abs(time - began)).toBeLessThan(5000);
  expect(Math.min(inputTokens, outputTokens, quota)).toBeGreaterThan(0);
  expect(firstByteMs).toBeGreaterThan(0);
  expect(durationMs - firstByteMs!).toBeGreaterThanOrEqual(40);
});

it('D a whole answer has its first byte when it is settled', async () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  await (await stack.post('/chat/completions', { model: 'demo-chat', messages })).text();
  const [row] = await stack.usage();
  expect(row!.firstByteMs).toBe(row!.durationMs);
});

it('D of several attempts it names the channel that answered', async () => {
  stack.simulator.reset();
  stack.simulator.faults.add({ match: { times: 1 }, fault: { status: 500 } });
  const messages = [{ role: 'user', content: 'Hello' }];
  await (await stack.post('/chat/completions', { model: 'demo-chat', messages })).text();
  const [row] = await stack.usage();
  const [, second] = stack.simulator.received;
  expect(row).toMatchObject({ attempts: 2, outcome: 'ok', multiplier: '1', group: 'default' });
  const isSpare = second!.headers.authorization === 'Bearer sk-simulated-spare';
  expect(row!.channel).toBe(isSpare ? 'simulated-openai-spare' : 'simulated-openai');
});
