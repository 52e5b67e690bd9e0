/**
 * A conversation whose model is served now by one vendor and now by another, of another protocol: what the first has said,
 * thought and called must be taken by the second, and come back to the first.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';

const vendors = {
  chat: ['openai', '/openai/v1', 'gpt-5.5', 'openai-chat'],
  responses: ['openai', '/openai/v1', 'gpt-5.5', 'openai-responses'],
  messages: ['anthropic', '/anthropic/v1', 'claude-sonnet-5-5', 'anthropic-messages'],
  'older-messages': ['anthropic', '/anthropic/v1', 'claude-haiku-4-5', 'anthropic-messages'],
  gemini: ['gemini', '/gemini/v1beta', 'gemini-3.6-flash', 'gemini-generate'],
  'older-gemini': ['gemini', '/gemini/v1beta', 'gemini-2.5-flash', 'gemini-generate'],
} as const;

function setChannels({ channels, models }: Documents): void {
  for (const [name, [vendor, path, model, protocol]] of Object.entries(vendors)) {
    models.models[name] = { family: 'chat', price: { input: '1', output: '1' }, maxOutputTokens: 8000 };
    channels.channels[`only-${name}`] = {
      vendor,
      baseUrl: `\${env:SIMULATOR_URL}${path}`,
      credentials: ['sk-only'],
      groups: ['default'],
      protocols: [protocol],
      models: { [name]: model },
    };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols
type Body = any;

/** One side of a conversation that calls a tool in every other turn. */
interface Talk {
  path(model: string): string;
  body(model: string): object;
  /** Takes an answer into the history, as an SDK gives it, and goes on: with results, or the next question. */
  take(answer: Body): void;
}

const question = 'Look it up [reasoning=10] [calls=2] [tokens=6]';
const parameters = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };

const talks: Readonly<Record<string, () => Talk>> = {
  'openai-chat': () => {
    const messages: Body[] = [{ role: 'user', content: question }];
    const tools = [{ type: 'function', function: { name: 'look_up', parameters } }];
    return {
      path: () => '/v1/chat/completions',
      body: (model) => ({ model, messages, tools, reasoning_effort: 'low' }),
      take({ choices: [{ message }] }) {
        messages.push(message);
        for (const { id } of message.tool_calls ?? [])
          messages.push({ role: 'tool', tool_call_id: id, content: 'found' });
        if (!message.tool_calls) messages.push({ role: 'user', content: question });
      },
    };
  },
  'openai-responses': () => {
    const input: Body[] = [{ role: 'user', content: question }];
    const tools = [{ type: 'function', name: 'look_up', parameters, strict: false }];
    const include = ['reasoning.encrypted_content'];
    return {
      path: () => '/v1/responses',
      body: (model) => ({ model, input, tools, include, store: false, reasoning: { effort: 'low', summary: 'auto' } }),
      take({ output }) {
        const calls = output.filter(({ type }: Body) => type === 'function_call');
        input.push(...output);
        for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'found' });
        if (calls.length === 0) input.push({ role: 'user', content: question });
      },
    };
  },
  'anthropic-messages': () => {
    const messages: Body[] = [{ role: 'user', content: question }];
    const tools = [{ name: 'look_up', input_schema: parameters }];
    return {
      path: () => '/v1/messages',
      body: (model) => ({
        model,
        messages,
        tools,
        max_tokens: 8000,
        thinking: model === 'older-messages' ? { type: 'enabled', budget_tokens: 2000 } : { type: 'adaptive' },
      }),
      take({ content }) {
        const calls = content.filter(({ type }: Body) => type === 'tool_use');
        const results = calls.map(({ id }: Body) => ({ type: 'tool_result', tool_use_id: id, content: 'found' }));
        messages.push({ role: 'assistant', content }, { role: 'user', content: calls.length > 0 ? results : question });
      },
    };
  },
  'gemini-generate': () => {
    const contents: Body[] = [{ role: 'user', parts: [{ text: question }] }];
    const tools = [{ functionDeclarations: [{ name: 'look_up', parametersJsonSchema: parameters }] }];
    return {
      path: (model) => `/v1beta/models/${model}:generateContent`,
      body: () => ({ contents, tools, generationConfig: { thinkingConfig: { includeThoughts: true } } }),
      take({ candidates: [{ content }] }) {
        const calls = content.parts.flatMap(({ functionCall }: Body) => functionCall ?? []);
        const results = calls.map(({ id, name }: Body) => ({
          functionResponse: { id, name, response: { result: 'found' } },
        }));
        contents.push(content, { role: 'user', parts: calls.length > 0 ? results : [{ text: question }] });
      },
    };
  },
};

const names = Object.keys(vendors);
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ edit: setChannels });
});
afterAll(() => stack.close());

async function turn(talk: Talk, model: string): Promise<void> {
  const response = await fetch(`${stack.gateway.url}${talk.path(model)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(talk.body(model)),
  });
  const text = await response.text();
  expect(response.status, `${model}: ${text}`).toBe(200);
  talk.take(JSON.parse(text));
}

describe.each(Object.keys(talks))('2.8 a client of %s goes on with its conversation', (client) => {
  it.each(names)('from a vendor of %s to every other, and back', async (first) => {
    for (const second of names) {
      const talk = talks[client]!();
      for (const model of [first, second, first, second]) await turn(talk, model);
    }
  });
});
