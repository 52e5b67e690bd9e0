/** Clients of other protocols on a Gemini vendor: tool loops over several turns, signed and unsigned. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { lastRow, startShop } from './kit.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startShop();
});
afterAll(() => stack.close());

const model = 'shop-gemini-generate';
const schema = { type: 'object' as const, properties: { q: { type: 'string' } } };
const prompt = 'Find it [calls=2] [rounds=2] [reasoning=6]';
const sent = (): string => JSON.stringify(stack.simulator.received.at(-1)!.body);
const skipped = 'skip_thought_signature_validator';

describe('4.4 an OpenAI client', () => {
  const tools = [{ type: 'function' as const, function: { name: 'lookup', parameters: schema } }];
  type Message = OpenAI.ChatCompletionMessageParam;

  it.each([
    ['sends what it got back as it came', true],
    ['forgets the signatures', false],
  ])('4.4 that %s runs its tools over two turns', async (_what, keeps) => {
    const client = new OpenAI({ apiKey: stack.key, baseURL: stack.base, maxRetries: 0 });
    const messages: Message[] = [{ role: 'user', content: prompt }];
    for (let turn = 0; turn < 2; turn++) {
      const reply = await client.chat.completions.create({ model, messages, tools });
      const [choice] = reply.choices;
      expect(choice!.finish_reason).toBe('tool_calls');
      const calls = choice!.message.tool_calls!;
      expect(calls).toHaveLength(2);
      const plain = calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: 'function' in call && call.function,
      }));
      messages.push((keeps ? choice!.message : { role: 'assistant', content: null, tool_calls: plain }) as Message);
      for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'found' });
    }
    const last = await client.chat.completions.create({ model, messages, tools });
    expect(last.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('Find it') },
    });
    expect(sent().includes(skipped)).toBe(!keeps);
    expect(last.usage!.completion_tokens_details!.reasoning_tokens).toBe(6);
    expect(await lastRow(stack)).toMatchObject({ endpoint: '/v1/chat/completions', reasoningTokens: 6 });
  });
});

describe('4.1 a client of messages', () => {
  it('4.1 runs its tools over two turns, streamed', async () => {
    const client = new Anthropic({ apiKey: stack.key, baseURL: stack.gateway.url, maxRetries: 0 });
    const tools = [{ name: 'lookup', input_schema: schema }];
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
    const ask = () => client.messages.stream({ model, max_tokens: 4000, messages, tools }).finalMessage();
    for (let turn = 0; turn < 2; turn++) {
      const reply = await ask();
      expect(reply.stop_reason).toBe('tool_use');
      const calls = reply.content.filter((block) => block.type === 'tool_use');
      expect(calls).toHaveLength(2);
      messages.push({ role: 'assistant', content: reply.content });
      messages.push({
        role: 'user',
        content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'found' })),
      });
    }
    const last = await ask();
    expect(last.stop_reason).toBe('end_turn');
    expect(JSON.stringify(last.content)).toContain('Find it');
  });
});
