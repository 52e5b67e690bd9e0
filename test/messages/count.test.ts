/** `POST /v1/messages/count_tokens`: counted by the vendor where it can be, else estimated; never charged. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { clientOf, lastSent, lookUp, modelOf, startMessages, vendorProtocols } from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startMessages({
    edit({ channels, models }) {
      for (const [name, fault] of [
        ['count-fails', 'status=500'],
        ['count-limited', 'status=429'],
        ['count-refused', 'status=400'],
        ['count-unknown', 'status=404'],
        ['count-unheard', 'status=405'],
      ]) {
        channels.channels['only-anthropic-messages'].cooldown = { failures: 3, first: '1m', longest: '5m' };
        channels.channels['only-anthropic-messages'].models[name!] = `claude-haiku-4-5!${fault}`;
        models.models[name!] = { family: 'chat', price: { input: '1', output: '1' } };
      }
    },
  });
});
afterAll(() => stack.close());

const count = (model: string, content: string) =>
  clientOf(stack).messages.countTokens({
    model,
    system: 'Be brief.',
    tools: [lookUp],
    thinking: { type: 'disabled' },
    messages: [{ role: 'user', content }],
  });

describe.each(vendorProtocols)('4.1 POST /v1/messages/count_tokens for a vendor of %s', (protocol) => {
  it('counts more for more', async () => {
    const short = await count(modelOf(protocol), 'Hi');
    const long = await count(modelOf(protocol), 'Hi there. '.repeat(200));
    expect(short.input_tokens).toBeGreaterThan(5);
    expect(long.input_tokens).toBeGreaterThan(short.input_tokens + 400);
  });

  it('counts tools whose names the vendor does not take', async () => {
    const tools = [{ ...lookUp, name: `mcp__${'x'.repeat(100)}` }];
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const { input_tokens } = await clientOf(stack).messages.countTokens({ model: modelOf(protocol), tools, messages });
    expect(input_tokens).toBeGreaterThan(5);
  });

  it('costs nothing', async () => {
    await count(modelOf(protocol), 'Hi');
    for (const row of await stack.usage()) expect(row.quota).toBe(0);
  });
});

it('4.1 POST /v1/messages/count_tokens agrees with what the same vendor bills', async () => {
  const model = modelOf('anthropic-messages');
  const asked = { model, messages: [{ role: 'user' as const, content: 'How much is this?' }] };
  const { input_tokens } = await clientOf(stack).messages.countTokens(asked);
  const { usage } = await clientOf(stack).messages.create({ ...asked, max_tokens: 20 });
  expect(input_tokens).toBe(usage.input_tokens);
});

it('4.1 POST /v1/messages/count_tokens: the request goes on as it came', async () => {
  const body = `{ "messages":[{"content":"H\\u0069","role":"user"}],\n "model" : "${modelOf('anthropic-messages')}"}`;
  expect((await stack.post('/messages/count_tokens', body)).status).toBe(200);
  expect(lastSent(stack)).toBe(body.replace(modelOf('anthropic-messages'), 'claude-haiku-4-5'));
});

it('4.1 POST /v1/messages/count_tokens: a vendor that fails is replaced by an estimate, one that refuses is not', async () => {
  expect((await count('count-fails', 'Hi there')).input_tokens).toBeGreaterThan(5);
  await expect(count('count-refused', 'Hi')).rejects.toMatchObject({ status: 400 });
});

it.each(['count-unknown', 'count-unheard'])(
  '4.1 POST /v1/messages/count_tokens: an estimate stands in for a vendor that cannot count: %s',
  async (model) => {
    expect((await count(model, 'Hi there')).input_tokens).toBeGreaterThan(5);
  },
);

it('4.1 POST /v1/messages/count_tokens: an estimate stands in while every channel is throttled, also while it rests', async () => {
  expect((await count('count-limited', 'Hi there')).input_tokens).toBeGreaterThan(5);
  expect((await count('count-limited', 'Hi there')).input_tokens).toBeGreaterThan(5);
});

it('4.1 POST /v1/messages/count_tokens: counts that fail or succeed say nothing of the channel, which goes on to answer', async () => {
  const channel = 'only-anthropic-messages';
  const model = modelOf('anthropic-messages');
  const answer = () =>
    clientOf(stack).messages.create({ model, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] });
  for (const fault of ['count-limited', 'count-fails', 'count-fails', 'count-fails', 'count-fails'])
    await count(fault, 'Hi');
  expect((await answer()).stop_reason).toBe('end_turn');
  expect((await stack.usage())[0]).toMatchObject({ channel, attempts: 1 });
});

const picture = 'A'.repeat(400_000);
const uncounted = modelOf('openai-chat');
it.each([
  [
    'POST /v1/messages/count_tokens',
    '/messages/count_tokens',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } }],
        },
      ],
    },
  ],
  [
    'POST /v1/responses/input_tokens',
    '/responses/input_tokens',
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look. '.repeat(70) },
            { type: 'input_image', image_url: `data:image/png;base64,${picture}` },
          ],
        },
      ],
    },
  ],
  [
    'POST /v1beta/models/{model}:countTokens',
    `/../v1beta/models/${uncounted}:countTokens`,
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] }] },
  ],
])('4.1 %s: the bytes of a picture are no tokens', async (_name, path, body) => {
  const response = await stack.post(path, path.includes('v1beta') ? body : { model: uncounted, ...body });
  const { input_tokens, totalTokens } = (await response.json()) as { input_tokens: number; totalTokens: number };
  const tokens = input_tokens ?? totalTokens;
  expect(tokens).toBeGreaterThan(100);
  expect(tokens).toBeLessThan(2000);
});
