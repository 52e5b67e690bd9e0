/** Pictures within a chat request: their bytes are no words, neither for what is held nor for what is charged. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askedTokens, type JsonObject } from '../../engine/plugin.ts';
import { type Stack, startStack } from '../kit/stack.ts';

const data = 'A'.repeat(1_000_000);
const url = `data:image/png;base64,${data}`;
const tokens = (body: JsonObject) => askedTokens(JSON.stringify(body).length, body);
const message = (part: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [part] }] });

describe('8 what a request is taken to ask', () => {
  it.each<[string, JsonObject]>([
    ['chat', message({ type: 'image_url', image_url: { url } })],
    ['messages', message({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })],
    [
      'messages, in a result',
      message({
        type: 'tool_result',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
      }),
    ],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }],
    ['responses, in a result', { input: [{ type: 'function_call_output', output: [{ image_url: url }] }] }],
    ['gemini', { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }],
    ['gemini, in the other spelling', { contents: { parts: [{ inline_data: { mime_type: 'image/png', data } }] } }],
  ])('a picture is no text: %s', (_name, body) => {
    expect(tokens(body)).toBeLessThan(1200);
  });

  it.each<[string, JsonObject]>([
    ['text that looks like a picture', message({ type: 'text', text: url })],
    ['a document', message({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } })],
    ['a file', message({ type: 'file', file: { file_data: `data:application/pdf;base64,${data}` } })],
    ['arguments', message({ type: 'tool_use', input: { media_type: 'image/png', data, image_url: url } })],
    ['arguments of Gemini', { contents: [{ parts: [{ functionCall: { args: { mimeType: 'image/png', data } } }] }] }],
    ['instructions', { ...message({ type: 'text', text: 'Hi' }), instructions: url }],
  ])('what a model reads counts, wherever it stands: %s', (_name, body) => {
    expect(tokens(body)).toBeGreaterThanOrEqual(250_000);
  });

  it('levels without end are not followed', () => {
    let value: JsonObject = { type: 'text' };
    for (let level = 0; level < 100_000; level++) value = { content: value };
    expect(askedTokens(1_000_000, message(value))).toBe(250_000);
  });
});

describe('8 a key with little quota and a low rate', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  it('sends a large picture', async () => {
    const key = await stack.createKey({ quota: 20_000, limits: { tokensPerMinute: 20_000 } });
    const picture = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg${'A'.repeat(999_998)}`;
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: picture } },
    ];
    const body = { model: 'demo-chat', max_tokens: 50, messages: [{ role: 'user', content }] };
    const answer = await stack.post('/chat/completions', body, { authorization: `Bearer ${key}` });
    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, '']);
  });
});
