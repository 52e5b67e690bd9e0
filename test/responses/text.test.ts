import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  all,
  clientOf,
  eventsOf,
  pixel,
  receivedBodies,
  startResponsesStack,
  translated,
  viaChat,
  viaNative,
} from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startResponsesStack();
});
afterAll(() => stack.close());

/** What a Response must have (required members of the vendor's own schema). */
const required = [
  'id',
  'object',
  'created_at',
  'status',
  'error',
  'incomplete_details',
  'instructions',
  'metadata',
  'model',
  'output',
  'parallel_tool_calls',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
  'usage',
];

describe('4.1 POST /v1/responses', () => {
  it.each(all)('4.1 POST /v1/responses answers text, with every member a Response must have: %s', async (model) => {
    const response = await clientOf(stack).responses.create({
      model,
      instructions: 'Be brief.',
      input: 'Say hello',
      metadata: { project: 'x' },
    });
    expect(response.output_text).toContain('Say hello');
    expect(Object.keys(response)).toEqual(expect.arrayContaining(required));
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: 'Be brief.',
      metadata: { project: 'x' },
    });
    expect(response.id).toMatch(/^resp_/);
    expect(response.usage!.input_tokens).toBeGreaterThan(0);
    expect(response.usage!.total_tokens).toBe(response.usage!.input_tokens + response.usage!.output_tokens);
    const [row] = await stack.usage();
    expect(row).toMatchObject({
      endpoint: '/v1/responses',
      model,
      status: 200,
      outcome: 'ok',
      usageSource: 'measured',
      inputTokens: response.usage!.input_tokens,
      outputTokens: response.usage!.output_tokens,
    });
    expect(row!.quota).toBe(Math.round((response.usage!.input_tokens * 1 + response.usage!.output_tokens * 2) / 2));
  });

  it.each(all)('4.1 POST /v1/responses carries several turns, system text and images: %s', async (model) => {
    const response = await clientOf(stack).responses.create({
      model,
      input: [
        { role: 'developer', content: 'You see well.' },
        { role: 'user', content: 'First' },
        { role: 'assistant', content: 'Second' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: pixel, detail: 'auto' },
          ],
        },
      ],
    });
    expect(response.output_text).toContain('What is this?');
    const sent = JSON.stringify(receivedBodies(stack).at(-1));
    for (const part of ['You see well.', 'First', 'Second', pixel.slice(22)]) expect(sent).toContain(part);
  });

  it.each(all)('4.1 POST /v1/responses answers after a schema: %s', async (model) => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    const response = await clientOf(stack).responses.create({
      model,
      input: 'Who is it?',
      text: { format: { type: 'json_schema', name: 'person', schema, strict: true } },
    });
    expect(JSON.parse(response.output_text)).toEqual({ name: expect.any(String), age: expect.any(Number) });
    expect(response.text).toMatchObject({ format: { type: 'json_schema', name: 'person' } });
  });

  it.each(all)('4.1 POST /v1/responses says when the answer was cut: %s', async (model) => {
    const response = await clientOf(stack).responses.create({
      model,
      input: 'Tell a story [tokens=400]',
      max_output_tokens: 16,
    });
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(response.output.at(-1)).toMatchObject({ type: 'message', status: 'incomplete' });
  });

  it.each(all)('4.1 POST /v1/responses/input_tokens counts, free of charge: %s', async (model) => {
    const before = (await stack.usage()).length;
    const counted = await clientOf(stack).responses.inputTokens.count({ model, input: 'How long is this?' });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    expect(counted.input_tokens).toBeGreaterThan(0);
    expect((await stack.usage()).length).toBe(before);
  });
});

describe('4.1 POST /v1/responses, streamed', () => {
  it.each(all)('sends every event in its order, numbered from 0: %s', async (model) => {
    const stream = await clientOf(stack).responses.create({ model, input: 'Count [chunks=3]', stream: true });
    const events = await eventsOf(stream);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.length).toBeGreaterThan(0);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...deltas.map(() => 'response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const text = deltas.map((event) => ('delta' in event ? event.delta : '')).join('');
    const last = events.at(-1)!;
    if (last.type !== 'response.completed') throw new Error(last.type);
    expect(last.response.output).toMatchObject([{ type: 'message', content: [{ type: 'output_text', text }] }]);
    expect(Object.keys(last.response)).toEqual(expect.arrayContaining(required.filter((name) => name !== 'usage')));
    const [row] = await stack.usage();
    expect(row).toMatchObject({
      outcome: 'ok',
      inputTokens: last.response.usage!.input_tokens,
      outputTokens: last.response.usage!.output_tokens,
    });
  });

  it.each(translated)('items and parts belong together by their ids and places: %s', async (model) => {
    const stream = await clientOf(stack).responses.create({ model, input: 'Count', stream: true });
    const events = await eventsOf(stream);
    const added = events.find((event) => event.type === 'response.output_item.added')!;
    const id = added.type === 'response.output_item.added' ? added.item.id : '';
    for (const event of events)
      if ('item_id' in event) expect(event).toMatchObject({ item_id: id, output_index: 0, content_index: 0 });
    const ids = events.flatMap((event) => ('response' in event ? event.response.id : []));
    expect(new Set(ids).size).toBe(1);
  });

  it.each(all)('the helper of the SDK builds the response from them: %s', async (model) => {
    const stream = clientOf(stack).responses.stream({ model, input: 'Sum it up' });
    const response = await stream.finalResponse();
    expect(response.output_text).toContain('Sum it up');
  });

  it('nothing is said behind the last event', async () => {
    for (const model of [viaNative, viaChat]) {
      const answer = await stack.post('/responses', { model, input: 'Hi', stream: true });
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect((await answer.text()).trimEnd().split('\n\n').at(-1)).toMatch(/^event: response\.completed\ndata: \{/);
    }
  });
});

describe('the relay of equal protocols', () => {
  it('hands the body on byte for byte but for the model, also what nobody here knows', async () => {
    const body = `{ "input" : "Hi" ,\n"model":"${viaNative}", "x_unknown" : [1.0, 2e2 ], "temperature":1.0 }`;
    stack.simulator.faults.add({ match: { path: '/responses', times: 1 }, fault: { lenient: true } });
    expect((await stack.post('/responses', body)).status).toBe(200);
    const { raw } = stack.simulator.received.at(-1)!;
    expect(raw.toString()).toBe(body.replace(viaNative, 'gpt-4.1-mini'));
  });

  it('hands a stream on byte for byte', async () => {
    const direct = await fetch(`${stack.simulator.url}/openai/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-other', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1-mini', input: 'Same', stream: true }),
    });
    const relayed = await stack.post('/responses', { model: viaNative, input: 'Same', stream: true });
    const bare = (text: string) => text.replace(/_sim[0-9a-z]+/g, '').replace(/"(created|completed)_at":\d+/g, '');
    expect(bare(await relayed.text())).toBe(bare(await direct.text()));
  });
});
