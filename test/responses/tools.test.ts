import type OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
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
  viaAnthropic,
  viaChat,
  viaGemini,
  viaNative,
  viaReasoner,
  weather,
} from './support.ts';

let stack: Stack;
let client: OpenAI;
beforeAll(async () => {
  stack = await startResponsesStack();
  client = clientOf(stack);
});
afterAll(() => stack.close());

const callsOf = (output: OpenAI.Responses.ResponseOutputItem[]) =>
  output.filter((item) => item.type === 'function_call');

const answered = (output: OpenAI.Responses.ResponseOutputItem[]): ResponseInputItem[] =>
  callsOf(output).map(({ call_id }) => ({ type: 'function_call_output', call_id, output: '7 degrees' }));

describe('tool calls', () => {
  it.each(all)('4.1 POST /v1/responses calls tools in parallel, and goes on from their results: %s', async (model) => {
    const question: ResponseInputItem = { role: 'user', content: 'Weather in two cities? [calls=2]' };
    const first = await client.responses.create({ model, input: [question], tools: [weather], store: false });
    const calls = callsOf(first.output);
    expect(first.status).toBe('completed');
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
    for (const call of calls) {
      expect(call).toMatchObject({ name: 'weather', status: 'completed' });
      expect(JSON.parse(call.arguments)).toHaveProperty('city');
    }
    const second = await client.responses.create({
      model,
      input: [question, ...(first.output as ResponseInputItem[]), ...answered(first.output)],
      tools: [weather],
      store: false,
    });
    expect(second.output_text).not.toBe('');
    expect(JSON.stringify(receivedBodies(stack).at(-1))).toContain('7 degrees');
    const third = await client.responses.create({
      model,
      input: [
        question,
        ...(first.output as ResponseInputItem[]),
        ...answered(first.output),
        ...(second.output as ResponseInputItem[]),
        { role: 'user', content: 'Thanks [calls=0]' },
      ],
      tools: [weather],
      tool_choice: 'none',
      store: false,
    });
    expect(third.output_text).toContain('Thanks');
  });

  it.each(all)('4.1 POST /v1/responses streams calls one after another: %s', async (model) => {
    const stream = await client.responses.create({
      model,
      input: 'Weather in two cities? [calls=2]',
      tools: [weather],
      stream: true,
    });
    const events = await eventsOf(stream);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? event.item : []));
    const calls = callsOf(items);
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      const own = events.filter((event) => 'item_id' in event && event.item_id === call.id);
      expect(own.at(-1)).toMatchObject({
        type: 'response.function_call_arguments.done',
        name: 'weather',
        arguments: call.arguments,
      });
      const pieces = own.slice(0, -1).map((event) => ('delta' in event ? event.delta : ''));
      expect(pieces.join('')).toBe(call.arguments);
    }
    const places = events.flatMap((event) => (event.type === 'response.output_item.added' ? event.output_index : []));
    expect(places).toEqual(places.map((_, index) => index));
    const last = events.at(-1)!;
    if (last.type !== 'response.completed') throw new Error(last.type);
    expect(last.response.output).toEqual(items);
  });

  it.each(all)('a tool can be asked for by its name: %s', async (model) => {
    const { output } = await client.responses.create({
      model,
      input: 'Go [calls=1]',
      tools: [weather],
      tool_choice: { type: 'function', name: 'weather' },
    });
    expect(callsOf(output)).toHaveLength(1);
  });

  it.each([viaNative, viaAnthropic, viaChat] as const)('results may hold pictures: %s', async (model) => {
    const input: ResponseInputItem[] = [
      { role: 'user', content: 'Look [calls=0]' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [
          { type: 'input_text', text: 'A map' },
          { type: 'input_image', image_url: pixel, detail: 'auto' },
        ],
      },
    ];
    await client.responses.create({ model, input, tools: [weather] });
    expect(JSON.stringify(receivedBodies(stack).at(-1))).toContain(pixel.slice(22));
  });
});

describe('tools that take plain text', () => {
  const patch = { type: 'custom' as const, name: 'patch', description: 'Changes files.' };

  it.each(all)('come back as plain text, whole and streamed: %s', async (model) => {
    const asked = { model, input: 'Patch it [calls=1]', tools: [patch], tool_choice: 'required' as const };
    const whole = await client.responses.create(asked);
    const [call] = whole.output.filter((item) => item.type === 'custom_tool_call');
    expect(call).toMatchObject({ type: 'custom_tool_call', name: 'patch' });
    expect(call!.input).not.toContain('"input"');
    const events = await eventsOf(await client.responses.create({ ...asked, stream: true }));
    const done = events.find((event) => event.type === 'response.custom_tool_call_input.done');
    expect(done).toMatchObject({ input: call!.input });
    const output: ResponseInputItem = { type: 'custom_tool_call_output', call_id: call!.call_id, output: 'Patched.' };
    const next = await client.responses.create({
      ...asked,
      input: [{ role: 'user', content: asked.input }, ...(whole.output as ResponseInputItem[]), output],
      tool_choice: 'auto',
    });
    expect(next.output_text).not.toBe('');
  });

  it('a grammar that cannot be enforced is told to the model', async () => {
    const format = { type: 'grammar' as const, syntax: 'lark' as const, definition: 'start: "x"' };
    await client.responses.create({ model: viaChat, input: 'Hi [calls=0]', tools: [{ ...patch, format }] });
    expect(JSON.stringify(receivedBodies(stack).at(-1))).toContain('lark grammar');
  });
});

describe('thoughts', () => {
  it('of a vendor of the same protocol go back to it as they came', async () => {
    const asked = {
      model: viaReasoner,
      tools: [weather],
      store: false,
      include: ['reasoning.encrypted_content' as const],
      reasoning: { effort: 'low' as const, summary: 'auto' as const },
    };
    const question: ResponseInputItem = { role: 'user', content: 'Think [reasoning=8] [calls=1]' };
    const first = await client.responses.create({ ...asked, input: [question] });
    const [thought] = first.output;
    expect(thought).toMatchObject({ type: 'reasoning', encrypted_content: expect.any(String) });
    const second = await client.responses.create({
      ...asked,
      input: [question, ...(first.output as ResponseInputItem[]), ...answered(first.output)],
    });
    expect(second.output_text).not.toBe('');
    const [row] = await stack.usage();
    expect(row!.reasoningTokens).toBe(8);
  });

  it.each([viaAnthropic, viaGemini])('of another vendor are shown, and go back signed: %s', async (model) => {
    const asked = { model, tools: [weather], reasoning: { effort: 'medium' as const, summary: 'auto' as const } };
    const question: ResponseInputItem = { role: 'user', content: 'Think [reasoning=8] [calls=1]' };
    const events = await eventsOf(await client.responses.create({ ...asked, input: [question], stream: true }));
    const types = events.map(({ type }) => type);
    const thought = events.flatMap((event) => (event.type === 'response.output_item.done' ? event.item : []))[0];
    expect(thought).toMatchObject({ type: 'reasoning', encrypted_content: expect.stringMatching(/^[a-z-]+:/) });
    if (model === viaAnthropic) {
      const at = types.indexOf('response.reasoning_summary_part.added');
      expect(types.slice(at - 1, at + 2)).toEqual([
        'response.output_item.added',
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
      ]);
    }
    const last = events.at(-1)!;
    if (last.type !== 'response.completed') throw new Error(last.type);
    const { output } = last.response;
    // The simulated vendors refuse a call whose thought does not come back as it was signed.
    const next = await client.responses.create({
      ...asked,
      input: [question, ...(output as ResponseInputItem[]), ...answered(output)],
    });
    expect(next.output_text).not.toBe('');
    // A vendor of this protocol is spared what it could not read.
    const elsewhere = await client.responses.create({
      model: viaReasoner,
      tools: [weather],
      input: [question, ...(output as ResponseInputItem[]), ...answered(output)],
    });
    expect(elsewhere.status).toBe('completed');
  });
});

describe('what cannot be carried is refused with its name', () => {
  it.each(translated)('tools that run at a vendor, logprobs, and choices among allowed tools: %s', async (model) => {
    const refused = async (body: object) => {
      const answer = await stack.post('/responses', { model, input: 'Hi', ...body });
      const { error } = (await answer.json()) as { error: { param: string; code: string } };
      return [answer.status, error.code, error.param];
    };
    expect(await refused({ tools: [{ type: 'web_search' }] })).toEqual([400, 'unsupported_parameter', 'tools[0].type']);
    expect(await refused({ top_logprobs: 2 })).toEqual([400, 'unsupported_parameter', 'top_logprobs']);
    expect(await refused({ include: ['message.output_text.logprobs'] })).toEqual([
      400,
      'unsupported_parameter',
      'include',
    ]);
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] };
    expect(await refused({ tools: [weather], tool_choice: allowed })).toEqual([
      400,
      'unsupported_parameter',
      'tool_choice.type',
    ]);
    expect(await refused({ prompt: { id: 'pmpt_1' } })).toEqual([400, 'unsupported_parameter', 'prompt']);
  });

  it.each([viaNative, viaChat])('background work and the vendor’s own conversations: %s', async (model) => {
    for (const body of [{ background: true }, { conversation: 'conv_1' }]) {
      const answer = await stack.post('/responses', { model, input: 'Hi', ...body });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { param: Object.keys(body)[0] } });
    }
  });
});
