/** What clients do with chat through the official SDK: tools, several choices, usage, the older completions. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { startStack } from '../kit/stack.ts';
import { chatBody, errorOf, lastRow, payloads, simulatorBase, spoken } from './chat-support.ts';

let stack: Stack;
let client: OpenAI;

const account = {
  vendor: 'openai',
  groups: ['default'],
  credentials: ['sk-one'],
  baseUrl: simulatorBase,
};

beforeAll(async () => {
  stack = await startStack({
    edit: ({ channels, models }) => {
      models.models['old-text'] = { family: 'chat', price: { input: '1.50', output: '2.00' }, maxOutputTokens: 4096 };
      channels.channels = {
        both: {
          ...account,
          models: {
            'demo-chat': 'gpt-4.1-mini',
            'demo-reasoner': 'gpt-5.5',
            'demo-instruct': 'gpt-3.5-turbo-instruct',
          },
        },
        'text-only': {
          ...account,
          protocols: ['openai-completions'],
          models: { 'old-text': 'gpt-3.5-turbo-instruct' },
        },
        'chat-only': {
          ...account,
          protocols: ['openai-chat'],
          groups: ['vip'],
          models: { 'demo-chat': 'gpt-4.1-mini' },
        },
      };
    },
  });
  client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
});
afterAll(() => stack.close());

const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'look_up',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string' }, deep: { type: 'boolean' } },
        required: ['id'],
      },
    },
  },
];
const messages = (content: string) => [{ role: 'user' as const, content }];

describe('2.8 tool calls', () => {
  it('2.8 whole, several in parallel', async () => {
    const reply = await client.chat.completions.create({ model: 'demo-chat', messages: messages('[calls=3]'), tools });
    const calls = reply.choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(3);
    expect(reply.choices[0]?.finish_reason).toBe('tool_calls');
    for (const call of calls)
      if (call.type === 'function') expect(() => JSON.parse(call.function.arguments)).not.toThrow();
    expect(await lastRow(stack)).toMatchObject({
      inputTokens: reply.usage?.prompt_tokens,
      outputTokens: reply.usage?.completion_tokens,
      usageSource: 'measured',
    });
  });

  it('6.2 streamed, put together by the SDK', async () => {
    const stream = client.chat.completions.stream({
      model: 'demo-chat',
      messages: messages('[calls=2]'),
      tools,
      stream_options: { include_usage: true },
    });
    const reply = await stream.finalChatCompletion();
    expect(reply.choices[0]?.message.tool_calls).toHaveLength(2);
    expect(reply.usage?.completion_tokens).toBeGreaterThan(0);
    expect(await lastRow(stack)).toMatchObject({
      outputTokens: reply.usage?.completion_tokens,
      usageSource: 'measured',
    });
  });

  it('2.8 a turn with the tool’s answer', async () => {
    const reply = await client.chat.completions.create({
      model: 'demo-chat',
      tools,
      messages: [
        ...messages('look'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"id":"4"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'found' },
      ],
    });
    expect(reply.choices[0]?.message.content).toBeTruthy();
  });
});

describe('2.9 choices and usage', () => {
  it('2.9 n = 3, whole and streamed', async () => {
    const reply = await client.chat.completions.create({ model: 'demo-chat', n: 3, messages: messages('hi') });
    expect(reply.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(await lastRow(stack)).toMatchObject({ outputTokens: reply.usage?.completion_tokens });
    const stream = await client.chat.completions.create({
      model: 'demo-chat',
      n: 2,
      stream: true,
      messages: messages('hi'),
    });
    const seen = new Map<number, string>();
    for await (const piece of stream)
      for (const { index, delta } of piece.choices) seen.set(index, (seen.get(index) ?? '') + (delta.content ?? ''));
    expect([...seen.keys()].sort()).toEqual([0, 1]);
    expect(seen.get(0)).toBe(seen.get(1));
    expect(await lastRow(stack)).toMatchObject({ outputTokens: 16, usageSource: 'measured' });
  });

  it('8 tokens by kind are priced by the list, exactly', async () => {
    await client.chat.completions.create({
      model: 'demo-reasoner',
      messages: messages(`${'x'.repeat(4000)} [cached=200] [reasoning=64] [tokens=36]`),
    });
    const row = await lastRow(stack);
    expect(row).toMatchObject({ cachedInputTokens: 200, reasoningTokens: 64, outputTokens: 100 });
    const micro = (row.inputTokens - 200) * 1.25 + 200 * 0.125 + 100 * 10;
    expect(row.quota).toBe(Math.round((micro * 500_000) / 1_000_000));
  });

  it.each([
    [{ include_usage: true }, true],
    [{ include_usage: false }, false],
    [undefined, false],
  ])('6.2 stream_options %j: the usage chunk is there: %s', async (options, shows) => {
    const response = await stack.post('/chat/completions', chatBody('hi', { stream: true, stream_options: options }));
    const text = await response.text();
    const usage = payloads(text).filter((one) => one.startsWith('{') && JSON.parse(one).usage);
    expect(usage).toHaveLength(shows ? 1 : 0);
    for (const one of payloads(text))
      if (!shows && one !== '[DONE]') expect(JSON.parse(one).choices).not.toHaveLength(0);
    expect(spoken(text)).toContain('You said: hi');
    expect(await lastRow(stack)).toMatchObject({ inputTokens: 5, outputTokens: 8, usageSource: 'measured' });
  });
});

describe('4.1 POST /v1/completions', () => {
  it('4.1 whole, several prompts', async () => {
    const reply = await client.completions.create({
      model: 'demo-instruct',
      prompt: ['Roses are', 'Violets are'],
      max_tokens: 6,
      n: 2,
    });
    expect(reply.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(await lastRow(stack)).toMatchObject({
      endpoint: '/v1/completions',
      outputTokens: reply.usage?.completion_tokens,
    });
  });

  it('4.1 streamed', async () => {
    const stream = await client.completions.create({ model: 'demo-instruct', prompt: 'Roses are', stream: true });
    let text = '';
    for await (const piece of stream) text += piece.choices[0]?.text ?? '';
    expect(text).toContain('Roses are');
    const row = await lastRow(stack);
    expect(row).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
    expect(row.outputTokens).toBeGreaterThan(0);
  });

  it.each([false, true])('4.1 a completions client at a chat vendor, streamed: %s', async (stream) => {
    const key = await stack.createKey({ group: 'vip' });
    const response = await fetch(`${stack.base}/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', prompt: 'Roses are', max_tokens: 40, stream }),
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    if (stream) {
      expect(payloads(text).at(-1)).toBe('[DONE]');
      const said = payloads(text)
        .slice(0, -1)
        .map((one) => JSON.parse(one).choices[0]?.text ?? '')
        .join('');
      expect(said).toContain('You said: Roses are');
    } else expect(JSON.parse(text)).toMatchObject({ object: 'text_completion', choices: [{ finish_reason: 'stop' }] });
    expect(stack.simulator.received.at(-1)?.path).toBe('/openai/v1/chat/completions');
    const row = await lastRow(stack);
    expect(row).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
    expect(row.outputTokens).toBeGreaterThan(5);
  });

  it.each([false, true])('4.4 a chat client at a completions vendor, streamed: %s', async (stream) => {
    const response = await stack.post('/chat/completions', {
      model: 'old-text',
      stream,
      max_tokens: 60,
      messages: messages('Roses are'),
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    if (stream) {
      expect(payloads(text).at(-1)).toBe('[DONE]');
      expect(spoken(text)).toContain('Roses are');
      expect(text).not.toContain('"usage":{');
    } else
      expect(JSON.parse(text)).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant' } }],
      });
    expect(stack.simulator.received.at(-1)?.path).toBe('/openai/v1/completions');
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
  });

  it('7 what the vendor’s protocol cannot express is a 400 that names the field, again and again', async () => {
    for (let round = 0; round < 3; round++) {
      const response = await stack.post('/chat/completions', { model: 'old-text', messages: messages('hi'), tools });
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatchObject({ param: 'tools' });
    }
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', status: 400, quota: 0 });
  });

  it.each([
    ['cut', 'cut=2'],
    ['an error event', 'errorframe=2'],
    ['an event that is no JSON', 'malformed=3'],
  ])('4.4 a translated stream with %s ends with the error, without [DONE]', async (_name, fault) => {
    const [setting, value] = fault.split('=') as [string, string];
    stack.simulator.faults.add({ match: { path: '/completions', times: 1 }, fault: { [setting]: Number(value) } });
    const response = await stack.post('/chat/completions', {
      model: 'old-text',
      stream: true,
      messages: messages('Roses are'),
    });
    const text = await response.text();
    expect(text).not.toContain('[DONE]');
    expect(JSON.parse(payloads(text).at(-1)!).error.code).toMatch(/^upstream_/);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', usageSource: 'estimated' });
  });
});

describe('4.4 timing', () => {
  it('4.4 each chunk reaches the client before the next one is sent', async () => {
    stack.simulator.reset();
    const response = await stack.post(
      '/chat/completions',
      chatBody('one two three four five six [chunks=6] [delay=60]', { stream: true }),
    );
    const reader = response.body!.getReader();
    let seen = 0;
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString('latin1');
      seen = text.split('\n\n').length - 1;
      // The usage chunk and [DONE] come after the last one and are not shown.
      expect(stack.simulator.received[0]!.events - seen).toBeLessThanOrEqual(2);
      if (!text.includes('[DONE]') && !text.includes('"stop"')) expect(stack.simulator.received[0]!.events).toBe(seen);
    }
    expect(seen).toBeGreaterThanOrEqual(8);
  });
});
