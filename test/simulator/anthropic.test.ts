import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/anthropic`;
const client = (apiKey = 'sk-ant-good'): Anthropic => new Anthropic({ apiKey, baseURL: base(), maxRetries: 0 });
const MODEL = 'claude-sonnet-5-5';
const HELLO = [{ role: 'user' as const, content: 'Hello there' }];
const ask = (content: string) => ({ model: MODEL, max_tokens: 2000, messages: [{ role: 'user' as const, content }] });
const TOOL = {
  name: 'lookup',
  input_schema: {
    type: 'object' as const,
    properties: { id: { type: 'string' }, n: { type: 'integer' } },
  },
};
const send = (body: object, headers = {}, path = '/v1/messages') =>
  post(
    `${base()}${path}`,
    { model: MODEL, max_tokens: 2000, messages: HELLO, ...body },
    { 'anthropic-version': '2023-06-01', ...headers },
  );
const refusal = async (body: object, headers = {}): Promise<string> => {
  const reply = await send(body, headers);
  expect(reply).toMatchObject({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error' } } });
  expect(reply.body.request_id).toBe(reply.headers.get('request-id'));
  return reply.body.error.message;
};
/** Each event with its name, which must be the type in its data. */
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      const event = JSON.parse(data!);
      expect(event.type).toBe(name);
      return event;
    });
const stream = async (body: object) => {
  const response = await fetch(`${base()}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, max_tokens: 2000, messages: HELLO, stream: true, ...body }),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  return eventsOf(await response.text());
};

describe('messages', () => {
  it('echo, with every field of the documented answer', async () => {
    const message = await client().messages.create(ask('Hello there'));
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [{ type: 'text', text: 'You said: Hello there – Grüße aus 東京 🙂', citations: null }],
      container: null,
      diagnostics: null,
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 4 + 3,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 10,
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: null,
        service_tier: 'standard',
        inference_geo: null,
        speed: null,
      },
    });
    expect(message._request_id).toMatch(/^req_/);
    expect((await client().messages.create({ ...ask('x'), model: 'claude-haiku-4-5' })).model).toBe(
      'claude-haiku-4-5-20251001',
    );
  });

  it('stream the documented events in order, and the same message', async () => {
    const events = await stream({});
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      ...new Array(8).fill('content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0].message).toMatchObject({ content: [], stop_reason: null, usage: { input_tokens: 7 } });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 7, output_tokens: 10 },
    });
    const body = ask('Hi [chunks=20] [tokens=50]');
    const streamed = client().messages.stream(body);
    let deltas = 0;
    streamed.on('text', () => {
      deltas += 1;
    });
    const final = await streamed.finalMessage();
    expect(deltas).toBe(20);
    expect(final.content).toMatchObject([
      {
        type: 'text',
        text: (await client().messages.create(body)).content.map((block) => 'text' in block && block.text)[0],
      },
    ]);
    expect(final.usage.output_tokens).toBe(50);
  });

  it('honour max_tokens, stop sequences and an output format', async () => {
    expect((await send({ max_tokens: 3 })).body).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ text: 'You said: He' }],
      usage: { output_tokens: 3 },
    });
    expect((await send({ max_tokens: 0 })).body).toMatchObject({ stop_reason: 'max_tokens', content: [] });
    expect((await send({ stop_sequences: ['🙂', 'there'] })).body).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'there',
      content: [{ text: 'You said: Hello ' }],
    });
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' }, at: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] } },
      $defs: { place: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false } },
      additionalProperties: false,
    };
    const format = { type: 'json_schema', schema };
    const { body } = await send({ output_config: { format } });
    expect(JSON.parse(body.content[0].text)).toEqual({ ok: true, at: { n: 42 } });
    const cut = (await send({ max_tokens: 1, output_config: { format } })).body;
    expect(cut).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: '{"ok' }] });
  });

  it('count what is read from and written to the cache apart from the rest', async () => {
    const long = 'long '.repeat(100);
    const marked = { type: 'text', text: `${long}[cached=64]`, cache_control: { type: 'ephemeral', ttl: '1h' } };
    const content = [marked, { type: 'text', text: 'after' }];
    const messages = [{ role: 'user', content }];
    const { usage } = (await send({ messages })).body;
    const counted = (
      await post(
        `${base()}/v1/messages/count_tokens`,
        { model: MODEL, messages },
        {
          'anthropic-version': '2026-10-21',
        },
      )
    ).body.input_tokens;
    expect(usage).toMatchObject({ input_tokens: 2, cache_read_input_tokens: 64 });
    expect(usage.cache_creation).toEqual({
      ephemeral_5m_input_tokens: 0,
      ephemeral_1h_input_tokens: usage.cache_creation_input_tokens,
    });
    expect(usage.input_tokens + usage.cache_creation_input_tokens + 64).toBe(counted);
    const { usage: whole } = (await send({ cache_control: { type: 'ephemeral' } })).body;
    expect(whole).toMatchObject({ input_tokens: 0, cache_creation_input_tokens: 7 });
  });

  it('take images, documents and search results', async () => {
    const data = createPictures('exact')
      .draw({ format: 'png', width: 8, height: 8, seed: 'i' })
      .bytes.toString('base64');
    const pdf = Buffer.from('%PDF-1.7').toString('base64');
    const blocks = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'T' },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'text' },
        citations: { enabled: true },
      },
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
      { type: 'search_result', content: [{ type: 'text', text: 'x' }], source: 's', title: 't' },
      { type: 'text', text: 'see' },
    ];
    expect((await send({ messages: [{ role: 'user', content: blocks }] })).body.content[0].text).toContain('see');
    const image = (source: object) => refusal({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
    expect(await image({ type: 'base64', media_type: 'image/jpeg', data })).toContain('does not match');
    expect(await image({ type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' })).toContain('Could not process');
    expect(await image({ type: 'base64', media_type: 'image/png', data: '%%' })).toContain('invalid base64');
    expect(await image({ type: 'base64', media_type: 'image/tiff', data })).toContain('media_type: Input should be');
    expect(await image({ type: 'url', url: 'http://example.com/a.png' })).toContain('Only HTTPS URLs');
  });
});

describe('tools', () => {
  it('are called in parallel, streamed and whole alike, and answered in text after their results', async () => {
    const body = { ...ask('go [calls=2]'), tools: [TOOL] };
    const whole = await client().messages.create(body);
    expect(whole.stop_reason).toBe('tool_use');
    const calls = whole.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ name, input }) => [name, input])).toEqual(
      new Array(2).fill(['lookup', { id: 'Zürich', n: 42 }]),
    );
    const streamed = await client().messages.stream(body).finalMessage();
    expect(streamed.content.map((block) => block.type === 'tool_use' && block.input)).toEqual(
      calls.map(({ input }) => input),
    );
    const after = await client().messages.create({
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', content: whole.content },
        {
          role: 'user',
          content: calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '42' })),
        },
      ],
    });
    expect(after).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: expect.stringContaining('go') }],
    });
  });

  it('run in a loop of several rounds, each calling the next tool', async () => {
    const names = ['read', 'edit', 'run'];
    const tools = names.map((name) => ({ ...TOOL, name }));
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'go [rounds=3] [tokens=9]' }];
    const called: string[] = [];
    for (;;) {
      const { content, stop_reason } = await client().messages.create({
        model: MODEL,
        max_tokens: 99,
        tools,
        messages,
      });
      if (stop_reason !== 'tool_use') break;
      expect(content.map(({ type }) => type)).toEqual(['text', 'tool_use']);
      const [use] = content.filter((block) => block.type === 'tool_use');
      called.push(use!.name);
      messages.push(
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use!.id, content: 'done' }] },
      );
    }
    expect(called).toEqual(names);
  });

  it('are chosen, forbidden and called one at a time as asked', async () => {
    const tools = [TOOL, { name: 'empty', input_schema: { type: 'object' } }];
    const messages = [{ role: 'user', content: 'go [calls=3]' }];
    const chosen = await stream({
      tools,
      messages,
      tool_choice: { type: 'tool', name: 'empty', disable_parallel_tool_use: true },
    });
    const starts = chosen.filter(({ type }) => type === 'content_block_start');
    expect(starts.map(({ content_block }) => content_block)).toEqual([
      { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'empty', input: {} },
    ]);
    const pieces = chosen.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta.partial_json);
    expect(pieces).toEqual(['']);
    expect((await send({ tools, messages, tool_choice: { type: 'none' } })).body.stop_reason).toBe('end_turn');
    expect((await send({ tools, messages, max_tokens: 2 })).body).toMatchObject({
      stop_reason: 'max_tokens',
      content: [],
    });
  });

  const use = (id: string) => ({ type: 'tool_use', id, name: 'lookup', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
  const text = { type: 'text', text: 'and' };
  it.each([
    ['no result', [use('a')], [text], 'were found without `tool_result` blocks immediately after: a'],
    ['one result of two', [use('a'), use('b')], [result('a')], 'immediately after: b'],
    ['text before the result', [use('a')], [text, result('a')], 'immediately after: a'],
    [
      'an unknown id',
      [use('a')],
      [result('a'), result('z')],
      'unexpected `tool_use_id` found in `tool_result` blocks: z',
    ],
    ['the same result twice', [use('a')], [result('a'), result('a')], 'unexpected `tool_use_id`'],
    ['a result without a call', [text], [result('a')], 'unexpected `tool_use_id`'],
    ['one id twice', [use('a'), use('a')], [result('a')], 'ids must be unique'],
    [
      'an id with a dot',
      [use('a.b')],
      [result('a.b')],
      'messages.1.content.0.tool_use.id: String should match pattern',
    ],
    ['a call of the user', [text], [use('a')], "Input tag 'tool_use' found using 'type'"],
  ])('refuse %s', async (_, assistant, user, message) => {
    const messages = [...HELLO, { role: 'assistant', content: assistant }, { role: 'user', content: user }];
    expect(await refusal({ tools: [TOOL], messages })).toContain(message);
  });

  it('results may come in several messages of the user, with text after them', async () => {
    const messages = [
      ...HELLO,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [result('a')] },
      { role: 'user', content: [result('b'), { type: 'text', text: 'so? [calls=1]' }] },
    ];
    const reply = await send({ tools: [TOOL], messages });
    expect(reply.body.content[0]).toMatchObject({ type: 'tool_use' });
  });
});

describe('thinking', () => {
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };

  it('comes first, is signed, and is counted within the output', async () => {
    const body = { ...ask('Think [reasoning=40]'), thinking };
    const whole = await client().messages.create(body);
    expect(whole.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(whole.usage.output_tokens_details).toEqual({ thinking_tokens: 40 });
    expect(whole.usage.output_tokens).toBeGreaterThan(40);
    const streamed = await client().messages.stream(body).finalMessage();
    expect(streamed.content).toMatchObject(whole.content.map(({ type }) => ({ type })));
    expect(streamed.content[0]).toEqual(whole.content[0]);
  });

  it('of the adaptive kind and by effort needs steering; enabled always thinks; omitted shows nothing', async () => {
    const kinds = async (body: object, content = 'x [reasoning=5]') =>
      (await send({ messages: [{ role: 'user', content }], ...body })).body.content.map(
        ({ type }: { type: string }) => type,
      );
    expect(await kinds({ thinking: { type: 'adaptive' } })).toEqual(['thinking', 'text']);
    expect(await kinds({ output_config: { effort: 'high' } })).toEqual(['thinking', 'text']);
    expect(await kinds({ thinking: { type: 'adaptive' } }, 'x')).toEqual(['text']);
    expect(await kinds({})).toEqual(['text']);
    expect(await kinds({ thinking: { type: 'disabled' } })).toEqual(['text']);
    expect(await kinds({ thinking }, 'x')).toEqual(['thinking', 'text']);
    expect(await kinds({ thinking }, 'x [redacted=2]')).toEqual([
      'thinking',
      'redacted_thinking',
      'redacted_thinking',
      'text',
    ]);
    expect(await kinds({ max_tokens: 3, thinking: { type: 'adaptive' } })).toEqual(['thinking']);
    const omitted = (await send({ thinking: { ...thinking, display: 'omitted' } })).body.content[0];
    expect(omitted).toMatchObject({ thinking: '', signature: expect.stringMatching(/^.{40}/) });
    expect(
      await kinds({
        messages: [...HELLO, { role: 'assistant', content: [omitted, { type: 'text', text: 'a' }] }, ...HELLO],
      }),
    ).toEqual(['text']);
  });

  it('must come back unaltered, and before the calls of a loop', async () => {
    const first = await client().messages.create({ ...ask('go [redacted=1]'), thinking, tools: [TOOL] });
    const [thought, redacted, use] = first.content as [
      Anthropic.ThinkingBlock,
      Anthropic.RedactedThinkingBlock,
      Anthropic.ToolUseBlock,
    ];
    const result = { type: 'tool_result', tool_use_id: use.id, content: 'x' };
    const body = (...content: object[]) => ({
      thinking,
      tools: [TOOL],
      messages: [...HELLO, { role: 'assistant', content }, { role: 'user', content: [result] }],
    });
    expect((await send(body(thought, redacted, use))).status).toBe(200);
    const swapped = `${thought.signature.startsWith('A') ? 'B' : 'A'}${thought.signature.slice(1)}`;
    const invalid = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    expect(await refusal(body({ ...thought, signature: swapped }, use))).toBe(invalid);
    expect(await refusal(body({ ...thought, signature: '' }, use))).toBe(invalid);
    expect(await refusal(body({ ...thought, thinking: `${thought.thinking}.` }, use))).toBe(invalid);
    expect(await refusal(body(thought, { ...redacted, data: 'AAAA' }, use))).toContain('Invalid `data`');
    expect(await refusal(body(use))).toContain('Expected `thinking` or `redacted_thinking`, but found `tool_use`');
  });

  it.each([
    [
      { thinking: { type: 'enabled', budget_tokens: 100 } },
      'budget_tokens: Input should be greater than or equal to 1024',
    ],
    [{ thinking, max_tokens: 1024 }, '`max_tokens` must be greater than `thinking.budget_tokens`'],
    [{ thinking: { type: 'enabled' } }, 'thinking.enabled.budget_tokens: Field required'],
    [{ thinking: { type: 'adaptive', budget_tokens: 2000 } }, 'Extra inputs are not permitted'],
    [{ thinking, temperature: 0.5 }, '`temperature` may only be set to 1'],
    [{ thinking, top_p: 0.5 }, '`top_p` must be'],
    [{ thinking, tools: [TOOL], tool_choice: { type: 'any' } }, 'forces tool use'],
    [{ thinking: { type: 'adaptive' }, model: 'claude-haiku-4-5' }, 'adaptive thinking is not supported'],
    [{ output_config: { effort: 'low' }, model: 'claude-haiku-4-5' }, 'effort parameter'],
  ])('refuses %j', async (body, message) => {
    expect(await refusal(body)).toContain(message);
  });
});
