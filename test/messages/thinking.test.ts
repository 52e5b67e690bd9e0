/** Thoughts: asked for, shown, and given back unchanged. */
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { ask, callsOf, clientOf, lastSent, lookUp, startMessages, textOf, thinkerOf, ways } from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startMessages();
});
afterAll(() => stack.close());

const own = thinkerOf('anthropic-messages');
const sent = () => JSON.parse(lastSent(stack));

describe.each(ways)('4.1 POST /v1/messages with thinking, %s', (_way, streamed) => {
  it('a signed thought and a redacted one go round a loop of tool calls', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look up 42 [reasoning=20] [redacted=1]' }];
    const thinking = { type: 'enabled', budget_tokens: 1024 } as const;
    const first = await ask(stack, streamed, { model: own, messages, thinking, tools: [lookUp] });
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'redacted_thinking', 'tool_use']);
    expect(first.usage.output_tokens_details?.thinking_tokens).toBe(20);
    messages.push({ role: 'assistant', content: first.content });
    const results = callsOf(first).map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '42' }) as const);
    messages.push({ role: 'user', content: results });
    // The simulator refuses a thought whose text and signature do not belong together.
    const second = await ask(stack, streamed, { model: own, messages, thinking, tools: [lookUp] });
    expect(second.stop_reason).toBe('end_turn');
    const [row] = await stack.usage();
    expect(row!.reasoningTokens).toBeGreaterThan(0);
  });

  it('an effort and a budget reach a vendor of chat completions', async () => {
    const model = thinkerOf('openai-chat');
    await ask(stack, streamed, { model, messages: 'Hi', output_config: { effort: 'high' } });
    expect(sent().reasoning_effort).toBe('high');
    const message = await ask(stack, streamed, {
      model,
      messages: 'Hi [reasoning=30]',
      thinking: { type: 'enabled', budget_tokens: 1500 },
    });
    expect(sent().reasoning_effort).toBe('low');
    expect(message.usage.output_tokens_details?.thinking_tokens).toBe(30);
    await ask(stack, streamed, { model, messages: 'Hi', thinking: { type: 'disabled' } });
    expect(sent()).not.toHaveProperty('reasoning_effort');
  });

  it('another vendor’s sealed thoughts go back to that vendor', async () => {
    const model = thinkerOf('openai-responses');
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look up 42 [reasoning=20]' }];
    const thinking = { type: 'enabled', budget_tokens: 1500 } as const;
    const first = await ask(stack, streamed, { model, messages, thinking, tools: [lookUp] });
    expect(first.content[0]).toMatchObject({
      type: 'thinking',
      signature: expect.stringMatching(/^openai-responses:/),
    });
    messages.push({ role: 'assistant', content: first.content });
    const results = callsOf(first).map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '42' }) as const);
    messages.push({ role: 'user', content: results });
    const second = await ask(stack, streamed, { model, messages, thinking, tools: [lookUp] });
    expect(second.stop_reason).toBe('end_turn');
    expect(JSON.stringify(sent().input)).toContain('encrypted_content');
  });
});

describe('4.4 POST /v1/chat/completions on a vendor of messages', () => {
  const chat = (fields: object) =>
    stack.post('/chat/completions', {
      model: own,
      messages: [{ role: 'user', content: 'Hi [reasoning=20]' }],
      ...fields,
    });

  it('an effort makes newer models think', async () => {
    const response = await chat({ reasoning_effort: 'minimal', temperature: 0.2, top_p: 0.5, top_k: 3 });
    expect(sent()).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      max_tokens: 8192,
    });
    for (const name of ['temperature', 'top_p', 'top_k']) expect(sent()).not.toHaveProperty(name);
    const { choices } = (await response.json()) as { choices: { message: { reasoning_content: string } }[] };
    expect(choices[0]!.message.reasoning_content).toContain('The user said');
  });

  it('older models get a budget that fits below the bound, or none', async () => {
    const model = 'via-anthropic-messages';
    expect((await chat({ model, reasoning_effort: 'medium' })).status).toBe(200);
    expect(sent()).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 4096 }, max_tokens: 8192 });
    expect((await chat({ model, reasoning_effort: 'high' })).status).toBe(200);
    expect(sent()).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 16384 }, max_tokens: 20480 });
    expect((await chat({ model, reasoning_effort: 'high', max_tokens: 2000 })).status).toBe(200);
    expect(sent()).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 1999 }, max_tokens: 2000 });
    expect((await chat({ model, reasoning_effort: 'high', max_tokens: 500 })).status).toBe(200);
    expect(sent()).not.toHaveProperty('thinking');
    expect((await chat({ model, reasoning_effort: 'none' })).status).toBe(200);
    expect(sent().thinking).toEqual({ type: 'disabled' });
  });

  it('a loop that began without a thought goes on without, and a forced tool leaves no room for one', async () => {
    const model = 'via-anthropic-messages';
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
    const called = { id: 'call.1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call.1', content: 'done' },
    ];
    expect((await chat({ model, messages, tools, reasoning_effort: 'low' })).status).toBe(200);
    expect(sent()).not.toHaveProperty('thinking');
    expect((await chat({ model, tools, tool_choice: 'required', reasoning_effort: 'low' })).status).toBe(200);
    expect(sent()).not.toHaveProperty('thinking');
  });
});

it('4.1 POST /v1/messages hands version and betas on to a vendor of its own', async () => {
  await clientOf(stack, stack.key, '2026-10-21').beta.messages.create({
    model: own,
    max_tokens: 50,
    betas: ['context-management-2025-06-27'],
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(stack.simulator.received.at(-1)!.headers).toMatchObject({
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'context-management-2025-06-27',
  });
  await ask(stack, false, { model: thinkerOf('openai-chat'), messages: 'Hi' });
  expect(stack.simulator.received.at(-1)!.headers).not.toHaveProperty('anthropic-version');
  await stack.post('/chat/completions', { model: own, messages: [{ role: 'user', content: 'Hi' }] });
  expect(stack.simulator.received.at(-1)!.headers['anthropic-version']).toBe('2023-06-01');
});

it('4.1 POST /v1/messages without a version, with a Bearer key', async () => {
  const response = await stack.post('/messages', {
    model: own,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(response.status).toBe(200);
  expect(textOf((await response.json()) as Anthropic.Message)).toContain('Hi');
});
