/** Histories and settings that one vendor takes and another would refuse. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatRequest, JsonObject } from '../../engine/plugin.ts';
import messages from '../../plugins/protocols/anthropic-messages.ts';
import gemini from '../../plugins/protocols/gemini-generate.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import responses from '../../plugins/protocols/openai-responses.ts';
import { callOf, streamed, vendorBody } from './support.ts';

const call = (id: string, name: string, text = '{}') => ({ id, type: 'function', function: { name, arguments: text } });
const asked = (over: JsonObject): JsonObject => ({
  model: 'shop',
  messages: [{ role: 'user', content: 'Go' }],
  ...over,
});

describe('2.8 a history for a Gemini vendor', () => {
  it('names each result after the call it answers, where ids come again in later turns', () => {
    const turn = (name: string) => [
      { role: 'assistant', content: null, tool_calls: [call('call_0', name)] },
      { role: 'tool', tool_call_id: 'call_0', content: 'done' },
    ];
    const body = asked({ messages: [{ role: 'user', content: 'Go' }, ...turn('first'), ...turn('second')] });
    const { contents } = vendorBody(chat, gemini, body) as { contents: { parts: JsonObject[] }[] };
    const answered = contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
    expect(answered).toMatchObject([{ name: 'first' }, { name: 'second' }]);
  });

  it.each(['{"city":', '[1]', 'Paris'])('may hold arguments that are no object: %s', (text) => {
    const turn = { role: 'assistant', content: null, tool_calls: [call('a', 'look_up', text)] };
    const result = { role: 'tool', tool_call_id: 'a', content: 'broken arguments' };
    const body = asked({ messages: [{ role: 'user', content: 'Go' }, turn, result] });
    expect(JSON.stringify(vendorBody(chat, gemini, body))).toContain(JSON.stringify({ arguments: text }));
  });

  it('may be nothing but system text', () => {
    const body = vendorBody(chat, gemini, asked({ messages: [{ role: 'system', content: 'Say hello.' }] }));
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] });
  });
});

describe('2.8 a schema of Anthropic’s clients', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const optional = { ...closed, required: [] };
  const open = { type: 'object', properties: closed.properties, required: ['a'] };
  const nested = { ...closed, properties: { a: { type: 'array', items: optional } } };
  const body = (schema: JsonObject) => ({
    ...asked({ max_tokens: 10 }),
    output_config: { format: { type: 'json_schema', schema } },
    tools: [{ name: 'look_up', input_schema: schema, strict: true }],
  });

  it.each([
    ['as it is', closed, true],
    ['with a member that may be missing', optional, false],
    ['that allows other members', open, false],
    ['with such an object within', nested, false],
  ])('%s: OpenAI’s are bound to it only where they can be', (_name, schema, strict) => {
    expect(vendorBody(messages, chat, body(schema))).toMatchObject({
      response_format: { json_schema: { schema, strict } },
      tools: [{ function: { parameters: schema, strict } }],
    });
    expect(vendorBody(messages, responses, body(schema))).toMatchObject({
      text: { format: { schema, strict } },
      tools: [{ parameters: schema, strict }],
    });
  });
});

describe('2.8 media without a type', () => {
  const jpeg = '/9j/4AAQSkZJRgABAQAAAQABAAD/';
  const image = { type: 'image_url', image_url: { url: `data:;base64,${jpeg}` } };
  const body = asked({ max_tokens: 9, messages: [{ role: 'user', content: [image] }] });

  it.each([
    [chat, `data:image/jpeg;base64,${jpeg}`],
    [responses, `data:image/jpeg;base64,${jpeg}`],
    [messages, '"media_type":"image/jpeg"'],
    [gemini, '"mimeType":"image/jpeg"'],
  ])('an image is told by its first bytes to $name', (vendor, expected) => {
    expect(JSON.stringify(vendorBody(chat, vendor, body))).toContain(expected);
  });

  it('a file for OpenAI’s chat has a name and a type', () => {
    const file = { type: 'document', source: { type: 'base64', data: 'JVBERi0=' } };
    const sent = vendorBody(messages, chat, asked({ max_tokens: 9, messages: [{ role: 'user', content: [file] }] }));
    expect(JSON.stringify(sent)).toContain(
      '{"filename":"file.pdf","file_data":"data:application/pdf;base64,JVBERi0="}',
    );
  });
});

it.each([
  [0, { effort: 'none' }],
  [-1, undefined],
])('2.8 a thinking budget of %i in words', (reasoningBudget, reasoning) => {
  const request: ChatRequest = { ...chat.decodeRequest(asked({})), reasoningBudget };
  expect(responses.encodeRequest(request, 'v').reasoning).toEqual(reasoning);
});

describe('6.2 a vendor’s stream for a client of responses', () => {
  const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'v', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const fragment = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });

  it('goes on where words or white space come between the pieces of a call', () => {
    const first = { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] };
    const second = { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }] };
    const bytes = [first, second, fragment('\n')].map((delta) => chunk(delta)).join('') + chunk({}, 'tool_calls');
    const { closing } = streamed(responses, chat, [Buffer.from(bytes)]);
    const { response } = JSON.parse(closing.slice(closing.indexOf('{')));
    expect(response.output).toMatchObject([
      { call_id: 'a', arguments: '{}', status: 'completed' },
      { call_id: 'b', arguments: '{}', status: 'completed' },
    ]);
  });
});

it('8 images that a translated answer holds are counted', () => {
  const part = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
  const answer = { candidates: [{ content: { parts: [part, part] }, finishReason: 'STOP' }] };
  const { tap } = streamed(chat, gemini, [Buffer.from(`data: ${JSON.stringify(answer)}\n\n`)], callOf());
  expect(tap.images).toBe(2);
  const events: ChatEvent[] = gemini.decodeReply(answer);
  expect(events.filter(({ type }) => type === 'image')).toHaveLength(2);
});

describe('2.8 what an OpenAI vendor needs to be said, and what not', () => {
  const question = { model: 'shop', input: 'Go' };

  it('nothing of the use of tools where there are none', () => {
    const idle = { ...question, tools: [], tool_choice: 'auto', parallel_tool_calls: false };
    expect(Object.keys(vendorBody(responses, chat, idle))).toEqual(['model', 'messages']);
    const contents = [{ role: 'user', parts: [{ text: 'Go' }] }];
    const toolConfig = { functionCallingConfig: { mode: 'NONE' } };
    expect(Object.keys(vendorBody(gemini, chat, { contents, toolConfig }))).toEqual(['model', 'messages']);
  });

  it('a turn of thoughts alone has empty content', () => {
    const turn = { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 'c2ln' }] };
    const history = [{ role: 'user', content: 'Go' }, turn, { role: 'user', content: 'On' }];
    const { messages: sent } = vendorBody(messages, chat, asked({ max_tokens: 9, messages: history }));
    expect(sent).toMatchObject([{}, { role: 'assistant', content: '' }, {}]);
  });

  it('that the parameters of a function are an object', () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { properties: {} } } }];
    expect(vendorBody(chat, responses, asked({ tools }))).toMatchObject({
      tools: [{ parameters: { type: 'object', properties: {} } }],
    });
  });
});
