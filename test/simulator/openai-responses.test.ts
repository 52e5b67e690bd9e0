import OpenAI from 'openai';
import type { ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { decodeImage } from './pixels.ts';
import { payloadsOf, post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/openai/v1`;
const client = (apiKey = 'sk-good'): OpenAI => new OpenAI({ apiKey, baseURL: base(), maxRetries: 0 });
const respond = (body: object, headers = {}) =>
  post(`${base()}/responses`, { model: 'gpt-4.1-mini', input: 'Hello there', ...body }, headers);
const TOOL = {
  type: 'function' as const,
  name: 'lookup',
  strict: true,
  parameters: {
    type: 'object',
    properties: { id: { type: 'string' }, n: { type: 'integer' } },
    required: ['id', 'n'],
    additionalProperties: false,
  },
};
const user = (text: string) => ({ role: 'user' as const, content: text });

// biome-ignore lint/suspicious/noExplicitAny: events of many shapes, asserted field by field
async function streamOf(body: object): Promise<any[]> {
  const response = await fetch(`${base()}/responses`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-good', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1-mini', input: 'Hi', stream: true, ...body }),
  });
  return payloadsOf(await response.text()).map((text) => JSON.parse(text));
}

const typesOf = (events: { type: string }[]): string[] =>
  events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);

describe('responses', () => {
  it('answer text with every documented field and usage by the documented formula', async () => {
    const response = await client().responses.create({ model: 'gpt-4.1-mini', input: 'Hello there' });
    expect(response.output_text).toBe('You said: Hello there – Grüße aus 東京 🙂');
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'gpt-4.1-mini-2025-04-14',
      error: null,
      incomplete_details: null,
      store: true,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      truncation: 'disabled',
    });
    expect(response.usage).toEqual({
      input_tokens: 4 + 3,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 17,
    });
  });

  it('stream text in the documented order, numbered from 0, with the same end as a whole answer', async () => {
    const events = await streamOf({ input: 'Hi [chunks=5]' });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...new Array(5).fill('response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events[0].response).toMatchObject({ status: 'in_progress', output: [], usage: null });
    const text = events.map(({ type, delta }) => (type.endsWith('.delta') ? delta : '')).join('');
    expect(events.at(-1).response.output[0].content[0].text).toBe(text);
    expect(events[4].obfuscation).toBeTypeOf('string');
    const bare = await streamOf({ stream_options: { include_obfuscation: false } });
    expect(bare[4].obfuscation).toBeUndefined();
  });

  it('are understood by the official client, whole and streamed', async () => {
    const stream = client().responses.stream({ model: 'gpt-5.5', input: 'Hi [reasoning=7] [chunks=20]' });
    const seen: ResponseStreamEvent[] = [];
    for await (const event of stream) seen.push(event);
    const final = await stream.finalResponse();
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(final.usage?.output_tokens_details.reasoning_tokens).toBe(7);
    expect(seen.filter(({ type }) => type === 'response.output_text.delta')).toHaveLength(20);
  });

  it('call tools, in pieces when streamed, and take their outputs by call_id', async () => {
    const ask = { model: 'gpt-4.1-mini', tools: [TOOL], store: false };
    const first = await client().responses.create({ ...ask, input: [user('Look [calls=2]')] });
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual(
      new Array(2).fill(['lookup', { id: 'Zürich', n: 42 }]),
    );
    expect(calls[0]!.id).not.toBe(calls[0]!.call_id);
    const outputs = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'ok' }));
    const input = [user('Look [calls=2]'), ...first.output, ...outputs] as ResponseInput;
    const second = await client().responses.create({ ...ask, input });
    expect(second.output_text).toContain('You said: Look');
    const events = await streamOf({ tools: [TOOL] });
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events[2].item).toMatchObject({ type: 'function_call', arguments: '', status: 'in_progress' });
    const pieces = events.filter(({ type }) => type.endsWith('arguments.delta')).map(({ delta }) => delta);
    expect(pieces.length).toBeGreaterThan(1);
    expect(JSON.parse(pieces.join(''))).toEqual({ id: 'Zürich', n: 42 });
  });

  it('call as many rounds as the prompt steers, one tool at a time where parallel calls are off', async () => {
    const body = { tools: [TOOL], parallel_tool_calls: false };
    const first = (await respond({ ...body, input: 'x [calls=3] [rounds=2]' })).body;
    expect(first.output).toHaveLength(1);
    const next = (previous: { id: string; output: { call_id: string }[] }) => {
      const output = [{ type: 'function_call_output', call_id: previous.output[0]!.call_id, output: 'y' }];
      return respond({ ...body, previous_response_id: previous.id, input: output });
    };
    const second = (await next(first)).body;
    expect(second.output[0].type).toBe('function_call');
    expect((await next(second)).body.output[0].type).toBe('message');
  });

  it('call custom tools and the tool that is chosen, and none when told so', async () => {
    const custom = { type: 'custom', name: 'shell', format: { type: 'grammar', syntax: 'regex', definition: '.*' } };
    const tools = [TOOL, custom];
    const chosen = (await respond({ tools, tool_choice: { type: 'custom', name: 'shell' } })).body;
    expect(chosen.output[0]).toMatchObject({ type: 'custom_tool_call', name: 'shell', input: 'Grüße 🙂' });
    const { call_id } = chosen.output[0];
    const input = [{ type: 'custom_tool_call_output', call_id, output: [{ type: 'input_text', text: 'ok' }] }];
    expect((await respond({ previous_response_id: chosen.id, input, tools })).body.output[0].type).toBe('message');
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'lookup' }] };
    expect((await respond({ tools, tool_choice: allowed })).body.output[0].name).toBe('lookup');
    expect((await respond({ tools, tool_choice: 'none' })).body.output[0].type).toBe('message');
    expect((await respond({ tools, input: 'x [calls=0]' })).body.output[0].type).toBe('message');
    const events = await streamOf({ tools: [custom] });
    expect(typesOf(events).slice(3, 5)).toEqual([
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
    ]);
  });

  it('summarize their reasoning when asked, in events of its own', async () => {
    const events = await streamOf({ model: 'gpt-5.5', reasoning: { effort: 'low', summary: 'auto' } });
    expect(typesOf(events).slice(2, 8)).toEqual([
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
    ]);
    expect(events[2].item).toMatchObject({ type: 'reasoning', summary: [] });
    const { output, reasoning } = events.at(-1).response;
    expect(output[0].summary[0].text).toContain('🙂');
    expect(reasoning).toEqual({ effort: 'low', summary: 'auto' });
  });

  it('answer valid JSON for a flat schema', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', name: 'answer', schema, strict: true };
    expect((await respond({ text: { format } })).body.output[0].content[0].text).toBe('{"ok":true}');
    const object = await respond({ text: { format: { type: 'json_object' } }, input: 'Say it in JSON' });
    expect(JSON.parse(object.body.output[0].content[0].text)).toHaveProperty('answer');
  });

  it('end incomplete at max_output_tokens, hidden tokens counted', async () => {
    const { body } = await respond({ input: 'Go [tokens=100]', max_output_tokens: 16 });
    expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(body.output[0].status).toBe('incomplete');
    expect(body.usage.output_tokens).toBe(16);
    const events = await streamOf({ input: 'Go [tokens=100]', max_output_tokens: 16 });
    expect(events.at(-1).type).toBe('response.incomplete');
    const thought = await respond({ model: 'gpt-5.5', input: 'Go [reasoning=16]', max_output_tokens: 16 });
    expect(thought.body.output.map(({ type }: { type: string }) => type)).toEqual(['reasoning']);
    expect(thought.body.status).toBe('incomplete');
  });

  it('report cached tokens and logprobs, and leave usage out when told so', async () => {
    const { body } = await respond({
      input: `${'long '.repeat(100)}[cached=64]`,
      include: ['message.output_text.logprobs'],
    });
    expect(body.usage.input_tokens_details.cached_tokens).toBe(64);
    expect(body.output[0].content[0].logprobs[0]).toMatchObject({ logprob: -0.25 });
    expect((await respond({ model: 'gpt-4.1-mini!nousage' })).body.usage).toBeUndefined();
  });

  it('draw pictures with the image tool, with partial ones when streamed', async () => {
    const tools = [{ type: 'image_generation', size: '512x256', output_format: 'jpeg', partial_images: 2 }];
    const { body } = await respond({ input: 'A fox [tokens=20]', tools });
    expect(body.output.map(({ type }: { type: string }) => type)).toEqual(['image_generation_call', 'message']);
    expect(body.output[0]).toMatchObject({ status: 'completed', size: '512x256', revised_prompt: 'A fox' });
    const decode = (text: string) => decodeImage(Buffer.from(text, 'base64'));
    expect(decode(body.output[0].result)).toEqual({ format: 'jpeg', width: 512, height: 256 });
    const stored = await client().responses.retrieve(body.id);
    expect(stored.output).toEqual(body.output);
    const events = await streamOf({ input: 'A fox', tools });
    expect(typesOf(events).slice(3, 7)).toEqual([
      'response.image_generation_call.in_progress',
      'response.image_generation_call.generating',
      'response.image_generation_call.partial_image',
      'response.image_generation_call.completed',
    ]);
    const partials = events.filter(({ type }) => type.endsWith('partial_image'));
    expect(partials.map(({ partial_image_index: index }) => index)).toEqual([0, 1]);
    expect(decode(partials[1].partial_image_b64)).toMatchObject({ width: 512 });
    expect(partials[0].partial_image_b64).not.toBe(partials[1].partial_image_b64);
    const reference = [{ type: 'item_reference', id: body.output[0].id }, user('Again')];
    expect((await respond({ input: reference, tools })).status).toBe(200);
  });
});

describe('state of responses', () => {
  it('is kept, found, listed, built upon and deleted', async () => {
    const first = await client().responses.create({ model: 'gpt-4.1-mini', input: 'One' });
    expect(await client().responses.retrieve(first.id)).toMatchObject({ id: first.id, output: first.output });
    const items = await client().responses.inputItems.list(first.id);
    expect(items.data[0]).toMatchObject({ role: 'user', content: [{ type: 'input_text', text: 'One' }] });
    const ask = { model: 'gpt-4.1-mini', input: 'Two', previous_response_id: first.id };
    const second = await client().responses.create(ask);
    expect(second.usage!.input_tokens).toBe(5 + (4 + first.usage!.output_tokens) + 5);
    await client().responses.delete(first.id);
    await expect(client().responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    await expect(client().responses.create(ask)).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
  });

  it('is not kept with store off, and belongs to its account', async () => {
    const { body } = await respond({ store: false });
    expect(body.store).toBe(false);
    await expect(client().responses.retrieve(body.id)).rejects.toMatchObject({ status: 404 });
    const mine = (await respond({})).body;
    await expect(client('sk-other').responses.retrieve(mine.id)).rejects.toMatchObject({ status: 404 });
    await expect(client().responses.cancel(mine.id)).rejects.toMatchObject({ status: 400 });
  });

  it('hands out encrypted reasoning that comes back unaltered, from the same account, or is refused', async () => {
    const ask = { model: 'gpt-5.5', include: ['reasoning.encrypted_content'], store: false };
    const first = (await respond({ ...ask, tools: [TOOL] })).body;
    const [reasoning, call] = first.output;
    expect(reasoning.encrypted_content).toBeTypeOf('string');
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'ok' };
    const replay = (item: object, headers = {}) =>
      respond({ ...ask, tools: [TOOL], input: [user('Hi'), item, call, output] }, headers);
    expect((await replay(reasoning)).status).toBe(200);
    const text = reasoning.encrypted_content as string;
    const altered = `${text.slice(0, 9)}${text[9] === 'A' ? 'B' : 'A'}${text.slice(10)}`;
    const forged = { status: 400, body: { error: { code: 'invalid_encrypted_content' } } };
    expect(await replay({ ...reasoning, encrypted_content: altered })).toMatchObject(forged);
    expect(await replay({ ...reasoning, id: 'rs_other' })).toMatchObject(forged);
    expect(await replay(reasoning, { authorization: 'Bearer sk-other' })).toMatchObject(forged);
    expect((await replay({ ...reasoning, encrypted_content: undefined })).status).toBe(404);
  });

  it('wants reasoning with what followed it, and what followed with its reasoning', async () => {
    const first = (await respond({ model: 'gpt-5.5', reasoning: { effort: 'low' } })).body;
    const [reasoning, message] = first.output;
    const say = (...items: object[]) => respond({ model: 'gpt-5.5', input: [...items, user('Go on')] });
    expect((await say(reasoning, message)).status).toBe(200);
    expect((await say(reasoning)).body.error.message).toContain('without its required following item');
    expect((await say(message)).body.error.message).toContain(`without its required 'reasoning' item`);
  });

  it('compacts a conversation into one opaque item that the next request takes', async () => {
    const input = [user('Build it'), { role: 'assistant' as const, content: 'Done' }, user('More')];
    const compacted = await client().responses.compact({ model: 'gpt-5.5', input });
    expect(compacted.object).toBe('response.compaction');
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
    const next = [...compacted.output, user('And now?')] as ResponseInput;
    expect((await client().responses.create({ model: 'gpt-5.5', input: next })).output_text).toContain('And now?');
    const forged = [{ type: 'compaction', encrypted_content: 'gAAAforged' }, user('x')];
    expect((await respond({ input: forged })).body.error.code).toBe('invalid_encrypted_content');
    const tools = await post(`${base()}/responses/compact`, { model: 'gpt-5.5', input: 'x', tools: [] });
    expect(tools.body.error).toMatchObject({ code: 'unknown_parameter', param: 'tools' });
  });

  it('counts input tokens as a response would report them', async () => {
    const ask = { model: 'gpt-4.1-mini', input: 'Hello there', instructions: 'Be brief.', tools: [TOOL] };
    const counted = await client().responses.inputTokens.count(ask);
    const { usage } = await client().responses.create(ask);
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: usage!.input_tokens });
  });
});

describe('responses refuse', () => {
  const closed = { ...TOOL.parameters, additionalProperties: true };
  const half = { ...TOOL.parameters, required: ['id'] };
  const callOf = (name: string) => ({ type: 'function_call', call_id: 'c', name, arguments: '{}' });
  it.each<[object, string | null, string | null]>([
    [{ input: undefined }, 'input', 'missing_required_parameter'],
    [{ input: [] }, 'input', 'empty_array'],
    [{ messages: [] }, 'messages', 'unknown_parameter'],
    [{ max_tokens: 20 }, 'max_tokens', 'unknown_parameter'],
    [{ max_output_tokens: 15 }, 'max_output_tokens', 'integer_below_min_value'],
    [{ stream_options: { include_usage: true }, stream: true }, 'stream_options.include_usage', 'unknown_parameter'],
    [{ input: [{ type: 'telepathy' }] }, 'input[0].type', 'invalid_value'],
    [
      { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
      'input[0].content[0].type',
      'invalid_value',
    ],
    [
      { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
      'input[0].content[0].type',
      'invalid_value',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: { url: 'x' } }] }] },
      'input[0].content[0].image_url',
      'invalid_type',
    ],
    [{ input: [{ ...user('x'), id: 'abc' }] }, 'input[0].id', 'invalid_value'],
    [{ input: [callOf('a b')] }, 'input[0].name', 'invalid_value'],
    [{ input: [callOf('f')] }, 'input', null],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input', null],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools[0].function', 'unknown_parameter'],
    [{ tools: [{ ...TOOL, parameters: closed }] }, 'tools[0].parameters', 'invalid_function_parameters'],
    [{ tools: [{ ...TOOL, parameters: half }] }, 'tools[0].parameters', 'invalid_function_parameters'],
    [{ tool_choice: { type: 'function', name: 'f' } }, 'tool_choice', null],
    [{ text: { format: { type: 'json_schema', json_schema: {} } } }, 'text.format.json_schema', 'unknown_parameter'],
    [{ text: { format: { type: 'json_object' } } }, 'input', null],
    [{ reasoning: { effort: 'low' } }, 'reasoning.effort', 'unsupported_parameter'],
    [{ include: ['reasoning.encrypted_content'] }, 'include', null],
    [{ include: ['everything'] }, 'include[0]', 'invalid_value'],
    [{ model: 'gpt-5.5', temperature: 0.5 }, 'temperature', 'unsupported_parameter'],
    [{ previous_response_id: 'resp_gone' }, 'previous_response_id', 'previous_response_not_found'],
  ])('%j', async (body, param, code) => {
    const reply = await respond(body);
    expect(reply).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error', param, code } } });
  });

  it('unknown ids, models and verbs', async () => {
    expect((await respond({ input: [{ type: 'item_reference', id: 'msg_gone' }] })).status).toBe(404);
    expect((await respond({ model: 'gpt-nope' })).status).toBe(404);
    expect((await post(`${base()}/responses/resp_x/nothing`, {})).status).toBe(404);
    const verb = await fetch(`${base()}/responses`, { headers: { authorization: 'Bearer k' } });
    expect(verb.status).toBe(405);
    expect((await respond({ model: 'gpt-4.1-mini!lenient', top_k: 4 })).status).toBe(200);
  });
});

describe('faults of responses', () => {
  it('refuse with a refusal part, a filter, no output, or the prompt itself', async () => {
    const refused = await respond({ model: 'gpt-4.1-mini!refuse=safety' });
    expect(refused.body.output[0].content[0]).toMatchObject({
      type: 'refusal',
      refusal: expect.stringContaining('can’t'),
    });
    const events = await streamOf({ model: 'gpt-4.1-mini!refuse=safety' });
    expect(typesOf(events).slice(4, 6)).toEqual(['response.refusal.delta', 'response.refusal.done']);
    const filtered = await respond({ model: 'gpt-4.1-mini!refuse=some' });
    expect(filtered.body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
    expect((await respond({ model: 'gpt-4.1-mini!refuse=noimage' })).body.output).toEqual([]);
    expect(await respond({ model: 'gpt-4.1-mini!refuse=prompt' })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_prompt' } },
    });
  });

  it('fail in the middle of a stream in each of the three known forms', async () => {
    const failed = await streamOf({ model: 'gpt-4.1-mini!errorframe=5' });
    expect(failed).toHaveLength(6);
    expect(failed.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: 5,
      response: { id: failed[0].response.id, status: 'failed', error: { code: 'server_error' } },
    });
    const flat = await streamOf({ model: 'gpt-4.1-mini!errorframe=2,errorform=flat' });
    expect(flat.at(-1)).toMatchObject({ type: 'error', sequence_number: 2, code: 'server_error', param: null });
    const nested = await streamOf({ model: 'gpt-4.1-mini!errorframe=0,errorform=nested' });
    expect(nested).toMatchObject([{ type: 'error', error: { type: 'server_error' }, sequence_number: 0 }]);
  });

  it('leave the terminal event out, or usage in it', async () => {
    const open = await streamOf({ model: 'gpt-4.1-mini!nodone' });
    expect(open.at(-1).type).toBe('response.output_item.done');
    const unmeasured = await streamOf({ model: 'gpt-4.1-mini!nousage' });
    expect(unmeasured.at(-1).response).not.toHaveProperty('usage');
  });
});
