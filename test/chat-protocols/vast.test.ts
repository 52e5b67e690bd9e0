/** Conversations of thousands and thousands of parts, as only a hostile client has them: nobody else may wait for them. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../engine/plugin.ts';
import { protocols, vendorBody } from './support.ts';

const many = 40_000;
const indices = Array.from({ length: many }, (_, index) => index);

/** Ms that it takes to read the body as one protocol's and write it as another's. */
function timeFor(body: JsonObject, client: string, vendor: string): number {
  const started = performance.now();
  vendorBody(protocols[client]!, protocols[vendor]!, body);
  return performance.now() - started;
}

it('2.8 calls that all have one id are told apart in time', () => {
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: indices.map(() => ({ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } })),
      },
      ...indices.map(() => ({ role: 'tool', tool_call_id: 'c', content: 'done' })),
    ],
  };
  expect(timeFor(body, 'openai-chat', 'anthropic-messages')).toBeLessThan(5_000);
});

it('2.8 responses in the wrong order find their calls in time', () => {
  const body = {
    contents: [
      { role: 'user', parts: [{ text: 'Go' }] },
      { role: 'model', parts: indices.map((index) => ({ functionCall: { name: `f${index}`, args: {} } })) },
      {
        role: 'user',
        parts: indices.map((index) => ({ functionResponse: { name: `f${many - 1 - index}`, response: {} } })),
      },
    ],
  };
  expect(timeFor(body, 'gemini-generate', 'openai-chat')).toBeLessThan(5_000);
});

const parts = Array.from({ length: 150_000 }, () => ({ type: 'text', text: 'x' }));
const turns = [
  { role: 'user', content: 'a' },
  { role: 'user', content: parts },
  { role: 'assistant', content: 'b' },
  { role: 'assistant', content: parts },
  { role: 'user', content: 'c' },
];
const vast: Readonly<Record<string, JsonObject>> = {
  'openai-chat': { model: 'm', messages: turns },
  'openai-responses': {
    model: 'm',
    input: turns.map(({ role, content }) => ({
      role,
      content:
        typeof content === 'string'
          ? content
          : content.map(({ text }) => ({ type: role === 'user' ? 'input_text' : 'output_text', text })),
    })),
  },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: turns },
  'gemini-generate': {
    contents: turns.map(({ role, content }) => ({
      role: role === 'user' ? 'user' : 'model',
      parts: typeof content === 'string' ? [{ text: content }] : content.map(({ text }) => ({ text })),
    })),
  },
};
it.each([
  ['openai-chat', 'anthropic-messages'],
  ['openai-chat', 'gemini-generate'],
  ['openai-responses', 'openai-chat'],
  ['anthropic-messages', 'openai-responses'],
  ['gemini-generate', 'anthropic-messages'],
])('2.8 more parts than a call takes arguments: from %s to %s', (client, vendor) => {
  expect(vendorBody(protocols[client]!, protocols[vendor]!, vast[client]!)).toBeTruthy();
});
