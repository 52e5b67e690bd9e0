import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { post, useSimulator } from './start.ts';
import { exchange, unchunk } from './wire.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/anthropic`;
const MODEL = 'claude-sonnet-5-5';
const HELLO = [{ role: 'user' as const, content: 'Hello' }];
const TOOL = { name: 'lookup', input_schema: { type: 'object' } };
const VERSION = { 'anthropic-version': '2023-06-01' };
const send = (body: object, headers: Record<string, string> = VERSION, path = '/v1/messages') =>
  post(`${base()}${path}`, { model: MODEL, max_tokens: 100, messages: HELLO, ...body }, headers);
const sdk = (apiKey = 'sk-ant-good') => new Anthropic({ apiKey, baseURL: base(), maxRetries: 0 });
const markedText = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };

describe('requests are refused', () => {
  it.each([
    [{ max_tokens: undefined }, 'max_tokens: Field required'],
    [{ max_tokens: -1 }, 'max_tokens: Input should be greater than or equal to 0'],
    [{ max_tokens: 200_000 }, 'max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens'],
    [{ max_completion_tokens: 5 }, 'max_completion_tokens: Extra inputs are not permitted'],
    [{ messages: [] }, 'messages: List should have at least 1 item after validation, not 0'],
    [
      { messages: [{ role: 'tool', content: 'x' }] },
      "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ],
    [{ messages: [{ role: 'assistant', content: 'x' }] }, 'messages: first message must use the "user" role'],
    [{ messages: [{ role: 'user', content: '' }] }, 'messages.0: all messages must have non-empty content'],
    [{ messages: [{ role: 'user', content: 'x', name: 'n' }] }, 'messages.0.name: Extra inputs are not permitted'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      'messages: text content blocks must be non-empty',
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }, 'must contain non-whitespace text'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      "messages.0.content.0: Input tag 'image_url'",
    ],
    [{ messages: [...HELLO, { role: 'assistant', content: 'Well' }] }, 'does not support assistant message prefill'],
    [{ system: [{ type: 'text', text: '' }] }, 'system: text content blocks must be non-empty'],
    [{ stop_sequences: ['END', ' \n'] }, 'stop_sequences: each stop sequence must contain non-whitespace'],
    [{ temperature: 1.5 }, 'temperature: Input should be less than or equal to 1'],
    [{ temperature: 0.5, top_p: 0.5 }, '`temperature` and `top_p` cannot both be specified'],
    [
      { tools: [{ name: 'a.b', input_schema: { type: 'object' } }] },
      'tools.0.custom.name: String should match pattern',
    ],
    [{ tools: [{ name: 'a', input_schema: {} }] }, 'tools.0.custom.input_schema.type: Field required'],
    [{ tools: [{ name: 'a', input_schema: { type: 'string' } }] }, "input_schema.type: Input should be 'object'"],
    [
      { tools: [{ name: 'a', input_schema: { type: 'object', anyOf: [] } }] },
      'does not support oneOf, allOf, or anyOf',
    ],
    [{ tools: [{ type: 'function', function: { name: 'a' } }] }, "tools.0: Input tag 'function'"],
    [{ tools: [{ ...TOOL, strict: true }] }, "'additionalProperties' must be explicitly set to false"],
    [{ tools: [TOOL, TOOL] }, 'tools: Tool names must be unique.'],
    [{ tool_choice: { type: 'auto' } }, 'tool_choice may only be specified while providing tools'],
    [{ tools: [TOOL], tool_choice: 'auto' }, 'tool_choice: Input should be an object'],
    [{ tools: [TOOL], tool_choice: { type: 'required' } }, "tool_choice: Input tag 'required'"],
    [{ tools: [TOOL], tool_choice: { type: 'tool', name: 'z' } }, "Tool 'z' not found in provided tools"],
    [
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      'output_config.format.schema: For',
    ],
    [{ cache_control: { type: 'ephemeral', ttl: '2h' } }, "cache_control.ttl: Input should be '5m' or '1h'"],
    [
      { messages: [{ role: 'user', content: new Array(5).fill(markedText) }] },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [{ mcp_servers: [] }, 'mcp_servers: Extra inputs are not permitted'],
    [{ metadata: { user: 'x' } }, 'metadata.user: Extra inputs are not permitted'],
  ])('%j', async (body, message) => {
    const reply = await send(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(message) },
      request_id: reply.headers.get('request-id'),
    });
  });

  it('for what the newer version took away', async () => {
    const newer = { 'anthropic-version': '2026-10-21' };
    for (const name of ['temperature', 'top_p', 'top_k']) {
      expect((await send({ [name]: 1 })).status).toBe(200);
      expect((await send({ [name]: 1 }, newer)).body.error.message).toBe(`${name}: Extra inputs are not permitted`);
    }
    const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' } };
    const messages = [...HELLO, { role: 'assistant', content: [document] }, ...HELLO];
    expect((await send({ messages })).status).toBe(200);
    expect((await send({ messages }, newer)).body.error.message).toContain('document blocks are not permitted');
    const cited = [{ role: 'user', content: [{ type: 'text', text: 'x', citations: [{}] }] }];
    expect((await send({ messages: cited }, newer)).body.error.message).toContain('citations');
  });

  it('for headers, keys, models, paths and bodies', async () => {
    expect((await send({}, {})).body.error.message).toBe('anthropic-version: header is required');
    expect((await send({}, { 'anthropic-version': '2024-01-01' })).status).toBe(400);
    expect((await send({}, { ...VERSION, 'anthropic-beta': 'a-2025-01-01,nonsense' })).body.error.message).toContain(
      'nonsense',
    );
    const beta = { ...VERSION, 'anthropic-beta': 'mcp-client-2025-11-20' };
    expect((await send({ mcp_servers: [] }, beta)).status).toBe(200);
    expect(await send({}, { ...VERSION, authorization: '' })).toMatchObject({
      status: 401,
      body: { error: { type: 'authentication_error', message: 'x-api-key header is required' } },
    });
    const create = (key: string, model = MODEL) => sdk(key).messages.create({ model, max_tokens: 5, messages: HELLO });
    await expect(create('sk-ant-api03-bad')).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(create('sk-ant-quota')).rejects.toThrow('credit balance is too low');
    await expect(create('k', 'claude-nope')).rejects.toMatchObject({
      status: 404,
      error: { error: { type: 'not_found_error', message: 'model: claude-nope' } },
    });
    expect((await send({}, VERSION, '/v1/complete')).body.error.type).toBe('not_found_error');
    expect((await fetch(`${base()}/v1/messages`, { headers: { ...VERSION, 'x-api-key': 'k' } })).status).toBe(405);
    expect((await post(`${base()}/v1/messages`, '{"model":', VERSION)).body.error.message).toContain('not valid JSON');
    expect((await send({}, { ...VERSION, 'content-type': 'text/plain' })).status).toBe(400);
    expect((await send({ extra: 1, model: `${MODEL}!lenient` })).status).toBe(200);
  });

  it('when tokens are counted with fields of an answer', async () => {
    const count = (body: object) =>
      post(`${base()}/v1/messages/count_tokens`, { model: MODEL, messages: HELLO, ...body }, VERSION);
    expect(await count({})).toMatchObject({ status: 200, body: { input_tokens: 6 } });
    expect((await count({ max_tokens: 5 })).body.error.message).toBe('max_tokens: Extra inputs are not permitted');
    const tools = [{ name: 'lookup', input_schema: { type: 'object' as const } }];
    const counted = await sdk().messages.countTokens({ model: MODEL, messages: HELLO, tools, system: 'Be brief.' });
    expect(counted.input_tokens).toBeGreaterThan(6);
  });
});

describe('models', () => {
  it('are listed by pages and described one by one', async () => {
    const ids = [];
    for await (const model of sdk().models.list({ limit: 2 })) ids.push(model.id);
    expect(ids).toEqual([MODEL, 'claude-haiku-4-5-20251001', 'claude-sonnet-4-20250514']);
    expect((await sdk().models.list({ lifecycle: ['deprecated'] })).data.map(({ id }) => id)).toEqual(ids.slice(2));
    expect((await sdk().models.list({ before_id: ids[2]!, limit: 1 })).data[0]!.id).toBe(ids[1]);
    const model = await sdk().models.retrieve('claude-haiku-4-5');
    expect(model).toMatchObject({ type: 'model', id: ids[1], line: 'haiku', created_at: '2025-10-15T00:00:00Z' });
    await expect(sdk().models.retrieve('nope')).rejects.toMatchObject({ status: 404 });
  });
});

describe('faults', () => {
  const raw = async (fault: string, extra: object = {}, patience?: number) =>
    exchange({
      url: simulator.current.url,
      path: '/anthropic/v1/messages',
      headers: 'anthropic-version: 2026-10-21\r\n',
      body: { model: `${MODEL}!${fault}`, max_tokens: 100, messages: HELLO, ...extra },
      ...(patience === undefined ? {} : { patience }),
    });
  const stream = (fault: string, patience?: number) => raw(fault, { stream: true }, patience);
  const framesOf = (body: Buffer): string[] =>
    unchunk(body)
      .text.split('\n\n')
      .filter((frame) => frame !== '');
  const FULL_STREAM = 14;

  it.each([
    [529, 'overloaded_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [503, 'api_error'],
    [504, 'timeout_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [413, 'request_too_large'],
  ])('status=%i is %s, with the wait in a header', async (status, type) => {
    const reply = await send({ model: `${MODEL}!status=${status},retryAfter=7` });
    expect(reply).toMatchObject({ status, body: { type: 'error', error: { type } } });
    expect(reply.headers.get('retry-after')).toBe('7');
    expect(reply.headers.get('request-id')).toBe(reply.body.request_id);
  });

  it('refuse answers 200 with a refusal, empty or begun, whole and streamed', async () => {
    const details = { type: 'refusal', category: 'general_harms', explanation: expect.any(String) };
    expect((await send({ model: `${MODEL}!refuse=prompt` })).body).toMatchObject({
      stop_reason: 'refusal',
      stop_details: details,
      content: [],
    });
    expect((await send({ model: `${MODEL}!refuse=noimage` })).body).toMatchObject({
      stop_reason: 'end_turn',
      content: [],
    });
    const streamed = await sdk()
      .messages.stream({ model: `${MODEL}!refuse=safety`, max_tokens: 5, messages: HELLO })
      .finalMessage();
    expect(streamed).toMatchObject({ stop_reason: 'refusal', stop_details: details, content: [{ type: 'text' }] });
    expect((await send({ model: `${MODEL}!refuse=safety`, foo: 1 })).status).toBe(400);
  });

  it('error200, empty200, wrongtype and nousage', async () => {
    expect(await send({ model: `${MODEL}!error200` })).toMatchObject({
      status: 200,
      body: { error: { type: 'api_error' } },
    });
    expect(await raw('empty200')).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    expect(framesOf((await stream('empty200')).body)).toEqual([]);
    expect((await raw('wrongtype')).head).toContain('text/html');
    expect((await send({ model: `${MODEL}!nousage` })).body.usage).toBeUndefined();
    expect(unchunk((await stream('nousage')).body).text).not.toContain('usage');
  });

  it('errorframe is an error event that the SDK throws, nodone leaves message_stop out', async () => {
    for (const after of [0, 3]) {
      const frames = framesOf((await stream(`errorframe=${after}`)).body);
      expect(frames).toHaveLength(after + 1);
      expect(frames.at(-1)).toMatch(/^event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error"/);
    }
    const broken = sdk().messages.stream({ model: `${MODEL}!errorframe=4`, max_tokens: 50, messages: HELLO });
    await expect(broken.finalMessage()).rejects.toThrow('Overloaded');
    const frames = framesOf((await stream('nodone')).body);
    expect(frames).toHaveLength(FULL_STREAM - 1);
    expect(frames.at(-1)).toContain('message_delta');
  });

  it('malformed, hugeline and crlf change the events', async () => {
    const frames = framesOf((await stream('malformed=3')).body);
    expect(frames).toHaveLength(FULL_STREAM);
    expect(() => JSON.parse(frames[3]!.split('\ndata: ')[1]!)).toThrow();
    expect(() => JSON.parse(frames[4]!.split('\ndata: ')[1]!)).not.toThrow();
    expect(framesOf((await stream('hugeline=100000')).body)[0]!.length).toBeGreaterThan(100_000);
    expect(unchunk((await stream('crlf')).body).text.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('cut, cutbody, stall, split, trickle, length, latency, delay and reset change the bytes', async () => {
    const cut = unchunk((await stream('cut=3')).body);
    expect([cut.chunks.length, cut.complete]).toEqual([3, false]);
    expect((await raw('cutbody=50')).body).toHaveLength(50);
    const stalled = await stream('stall=2', 100);
    expect([unchunk(stalled.body).chunks.length, stalled.ending]).toEqual([2, 'open']);
    const split = unchunk((await stream('split=5', 3000)).body);
    expect([split.complete, split.text]).toEqual([true, expect.stringContaining('event: message_stop')]);
    expect(JSON.parse((await raw('trickle=40', {}, 5000)).body.toString()).type).toBe('message');
    const { head, body } = await raw('length=longer');
    expect(Number(/content-length: (\d+)/.exec(head)![1])).toBe(body.length + 64);
    const start = performance.now();
    expect((await stream('latency=60,delay=5', 3000)).arrivals[0]!.at - start).toBeGreaterThan(55);
    expect(await raw('reset=read')).toMatchObject({ status: undefined, ending: 'ECONNRESET' });
  });
});
