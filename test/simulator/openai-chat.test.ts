import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { payloadsOf, post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/openai/v1`;
const client = (apiKey = 'sk-good'): OpenAI => new OpenAI({ apiKey, baseURL: base(), maxRetries: 0 });
const messages = [{ role: 'user' as const, content: 'Hello there' }];
const chat = (body: object) => post(`${base()}/chat/completions`, { model: 'gpt-4.1-mini', messages, ...body });
const TOOL = {
  type: 'function' as const,
  function: {
    name: 'lookup',
    parameters: { type: 'object', properties: { id: { type: 'string' }, n: { type: 'integer' } } },
  },
};

describe('chat completions', () => {
  it('answer deterministically, with multi-byte characters and usage by the documented formula', async () => {
    const completion = await client().chat.completions.create({ model: 'gpt-4.1-mini', messages });
    const text = completion.choices[0]!.message.content!;
    expect(text).toBe('You said: Hello there – Grüße aus 東京 🙂');
    expect(completion.model).toBe('gpt-4.1-mini-2025-04-14');
    expect(completion.choices[0]!.logprobs).toBeNull();
    expect(completion.usage).toMatchObject({
      prompt_tokens: 4 + 3,
      completion_tokens: Math.ceil(Array.from(text).length / 4),
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
    expect(completion.usage!.total_tokens).toBe(completion.usage!.prompt_tokens + completion.usage!.completion_tokens);
  });

  it('stream the same text in the asked number of chunks, with usage only when asked', async () => {
    const ask = { model: 'gpt-4.1-mini', messages: [{ role: 'user' as const, content: 'Hi [chunks=20] [tokens=50]' }] };
    const whole = await client().chat.completions.create(ask);
    const stream = await client().chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.flatMap((chunk) => chunk.choices.map(({ delta }) => delta.content ?? ''));
    expect(deltas.join('')).toBe(whole.choices[0]!.message.content);
    expect(deltas.filter((delta) => delta !== '')).toHaveLength(20);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 50 } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it('stream exactly the documented frames', async () => {
    const response = await fetch(`${base()}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1-mini', messages, stream: true }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    const text = await response.text();
    const payloads = payloadsOf(text);
    expect(text.startsWith('data: {')).toBe(true);
    expect(payloads.at(-1)).toBe('[DONE]');
    const chunks = payloads.slice(0, -1).map((payload) => JSON.parse(payload));
    expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(chunks.at(-1).choices[0]).toEqual({ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' });
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ id: chunks[0].id, object: 'chat.completion.chunk' });
      expect(chunk.obfuscation).toBeTypeOf('string');
      expect('usage' in chunk).toBe(false);
    }
  });

  it('leave the padding out where the client says so', async () => {
    const stream = await client().chat.completions.create({
      model: 'gpt-4.1-mini',
      messages,
      stream: true,
      stream_options: { include_obfuscation: false },
    });
    for await (const chunk of stream) expect('obfuscation' in chunk).toBe(false);
  });

  it('call tools, whole and streamed alike, and answer in text after the result', async () => {
    const ask = { model: 'gpt-5.5', messages: [{ role: 'user' as const, content: 'go [calls=2]' }], tools: [TOOL] };
    const whole = await client().chat.completions.create(ask);
    const calls = whole.choices[0]!.message.tool_calls!;
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(calls.map((call) => 'function' in call && JSON.parse(call.function.arguments))).toEqual([
      { id: 'Zürich', n: 42 },
      { id: 'Zürich', n: 42 },
    ]);
    const stream = client().chat.completions.stream(ask);
    const streamed = (await stream.finalChatCompletion()).choices[0]!.message.tool_calls!;
    expect(streamed.map((call) => call.function.arguments)).toEqual(
      calls.map((call) => ('function' in call ? call.function.arguments : '')),
    );
    const after = await chat({
      tools: [TOOL],
      messages: [
        ...ask.messages,
        { role: 'assistant', content: null, tool_calls: calls },
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '42' })),
      ],
    });
    expect(after.body.choices[0].finish_reason).toBe('stop');
    expect((await chat({ tools: [TOOL], tool_choice: 'none' })).body.choices[0].finish_reason).toBe('stop');
  });

  it('call a function of the old fields, whole and streamed alike, and answer in text after its result', async () => {
    const functions = [TOOL.function];
    const ask = { model: 'gpt-4.1-mini', messages, functions };
    const { finish_reason, message } = (await client().chat.completions.create(ask)).choices[0]!;
    expect(finish_reason).toBe('function_call');
    expect(message.function_call).toEqual({ name: 'lookup', arguments: '{"id":"Zürich","n":42}' });
    expect([message.content, message.tool_calls]).toEqual([null, undefined]);
    const pieces: string[] = [];
    for await (const chunk of await client().chat.completions.create({ ...ask, stream: true }))
      pieces.push(chunk.choices[0]!.delta.function_call?.arguments ?? '');
    expect(pieces.join('')).toBe(message.function_call!.arguments);
    const result = { role: 'function' as const, name: 'lookup', content: '42' };
    const after = await client().chat.completions.create({ ...ask, messages: [...messages, message, result] });
    expect(after.choices[0]!.finish_reason).toBe('stop');
  });

  it('honour n, stop, the output limit and a JSON schema', async () => {
    const { body } = await chat({ n: 3 });
    expect(body.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
    expect(body.usage.completion_tokens).toBe(30);
    expect((await chat({ stop: ['there'] })).body.choices[0].message.content).toBe('You said: Hello ');
    const limited = await chat({ max_tokens: 3 });
    expect(limited.body.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said: He' } });
    expect(limited.body.usage.completion_tokens).toBe(3);
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    expect((await chat({ response_format: format })).body.choices[0].message.content).toBe('{"ok":true}');
  });

  it('report the cached and reasoning tokens that the prompt steers', async () => {
    const content = `${'long '.repeat(100)}[cached=64] [reasoning=10]`;
    const { usage } = (await chat({ messages: [{ role: 'user', content }] })).body;
    expect(usage.prompt_tokens_details.cached_tokens).toBe(64);
    expect(usage.completion_tokens_details.reasoning_tokens).toBe(10);
  });

  it.each([
    [{ messages: [] }, 'messages', 'empty_array'],
    [{ messages: undefined }, 'messages', 'missing_required_parameter'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role', 'invalid_value'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content', 'invalid_type'],
    [{ messages: [{ role: 'user', content: 'x', extra: 1 }] }, 'messages[0].extra', 'unknown_parameter'],
    [{ messages: [{ role: 'tool', tool_call_id: 'a', content: 'x' }] }, 'messages[0].role', null],
    [{ foo: 1 }, 'foo', 'unknown_parameter'],
    [{ n: 0 }, 'n', 'integer_below_min_value'],
    [{ temperature: 3 }, 'temperature', 'decimal_above_max_value'],
    [{ stream_options: { include_usage: true } }, 'stream_options', null],
    [{ tool_choice: 'auto' }, 'tool_choice', null],
    [{ function_call: 'auto' }, 'function_call', null],
    [{ logit_bias: { 50256: -101 } }, 'logit_bias.50256', 'integer_below_min_value'],
    [{ metadata: { page: 7 } }, 'metadata.page', 'invalid_type'],
    [{ metadata: { page: 'x'.repeat(513) } }, 'metadata.page', 'string_above_max_length'],
    [{ metadata: { ['x'.repeat(65)]: '' } }, 'metadata', 'string_above_max_length'],
    [
      { metadata: Object.fromEntries([...'abcdefghijklmnopq'].map((name) => [name, ''])) },
      'metadata',
      'object_above_max_properties',
    ],
    [{ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }, 'modalities', 'unsupported_value'],
    [{ model: 'gpt-5.5', max_tokens: 5 }, 'max_tokens', 'unsupported_parameter'],
    [{ model: 'gpt-5.5', temperature: 0.5 }, 'temperature', 'unsupported_value'],
  ])('refuse %j', async (body, param, code) => {
    const reply = await chat(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({ type: 'invalid_request_error', param, code });
    expect(reply.body.error.message).toBeTypeOf('string');
  });

  it('accept unknown fields where the model is marked lenient', async () => {
    expect((await chat({ model: 'gpt-4.1-mini!lenient', top_k: 4 })).status).toBe(200);
  });

  it('refuse unknown models, wrong kinds, wrong keys, wrong verbs and broken JSON in OpenAI’s words', async () => {
    expect(await chat({ model: 'gpt-nope' })).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    });
    expect((await chat({ model: 'gpt-3.5-turbo-instruct' })).status).toBe(404);
    const wrongKey = client('sk-bad-one').chat.completions.create({ model: 'gpt-5.5', messages });
    await expect(wrongKey).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    const noCredit = client('quota-1').chat.completions.create({ model: 'gpt-5.5', messages });
    await expect(noCredit).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    const noKey = await post(`${base()}/chat/completions`, {}, { authorization: '' });
    expect(noKey).toMatchObject({ status: 401, body: { error: { code: null } } });
    const verb = await fetch(`${base()}/chat/completions`, { headers: { authorization: 'Bearer k' } });
    expect(verb.status).toBe(405);
    expect(await post(`${base()}/nowhere`, {})).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_url' } },
    });
    expect((await post(`${base()}/chat/completions`, '{"model":')).status).toBe(400);
  });
});

describe('legacy completions', () => {
  it('flatten prompts and copies, whole and streamed', async () => {
    const ask = { model: 'gpt-3.5-turbo-instruct', prompt: ['One', 'Two'], n: 2 };
    const completion = await client().completions.create(ask);
    expect(completion.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(completion.choices[2]!.text).toContain('Two');
    const texts = ['', '', '', ''];
    for await (const chunk of await client().completions.create({ ...ask, stream: true })) {
      expect(chunk.object).toBe('text_completion');
      for (const { index, text } of chunk.choices) texts[index] += text;
    }
    expect(texts).toEqual(completion.choices.map(({ text }) => text));
  });

  it('tell the likelihood of each piece where asked, with its place in the text', async () => {
    const ask = { model: 'gpt-3.5-turbo-instruct', prompt: 'One', max_tokens: 500, logprobs: 2 };
    const { logprobs, text } = (await client().completions.create(ask)).choices[0]!;
    const { tokens, token_logprobs, top_logprobs, text_offset } = logprobs!;
    expect(tokens!.join('')).toBe(text);
    expect(text_offset!.map((offset, index) => text.startsWith(tokens![index]!, offset))).not.toContain(false);
    expect(new Set(token_logprobs)).toEqual(new Set([-0.25]));
    expect(top_logprobs!.map((likeliest) => Object.keys(likeliest).length)).toEqual(tokens!.map(() => 2));
    const offsets: number[] = [];
    for await (const { choices } of await client().completions.create({ ...ask, stream: true }))
      offsets.push(...(choices[0]!.logprobs?.text_offset ?? []));
    expect(offsets).toEqual(text_offset);
  });

  it.each([
    [{ best_of: 1, n: 2 }, 'best_of'],
    [{ best_of: 2, stream: true }, 'best_of'],
    [{ logprobs: 6 }, 'logprobs'],
    [{ logprobs: true }, 'logprobs'],
    [{ stream_options: { include_usage: true } }, 'stream_options'],
  ])('refuse %j', async (body, param) => {
    const reply = await post(`${base()}/completions`, { model: 'gpt-3.5-turbo-instruct', prompt: 'x', ...body });
    expect(reply).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error', param } } });
  });

  it('stop at 16 tokens unless told otherwise, and refuse a chat model', async () => {
    const ask = { model: 'gpt-3.5-turbo-instruct', prompt: 'word '.repeat(60) };
    expect((await client().completions.create(ask)).choices[0]).toMatchObject({ finish_reason: 'length' });
    expect((await client().completions.create({ ...ask, max_tokens: 500 })).choices[0]).toMatchObject({
      finish_reason: 'stop',
    });
    expect((await post(`${base()}/completions`, { model: 'gpt-5.5', prompt: 'x' })).status).toBe(404);
  });
});

describe('models', () => {
  it('are listed and found by name', async () => {
    const ids = (await client().models.list()).data.map(({ id }) => id);
    expect(ids).toContain('gpt-image-2');
    expect(await client().models.retrieve('gpt-5.5')).toMatchObject({ object: 'model', owned_by: 'system' });
    await expect(client().models.retrieve('gone')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});
