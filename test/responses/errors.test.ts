import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChatCall } from '../../engine/plugin.ts';
import responses from '../../plugins/protocols/openai-responses.ts';
import type { Stack } from '../kit/stack.ts';
import { all, clientOf, eventsOf, startResponsesStack, translated, viaChat, viaNative } from './support.ts';

let stack: Stack;
let client: OpenAI;
beforeAll(async () => {
  stack = await startResponsesStack({
    edit({ channels }) {
      // A second account behind the native model, for failover.
      channels.channels['spare-responses'] = { ...channels.channels['only-responses'], credentials: ['sk-spare'] };
    },
  });
  client = clientOf(stack);
});
afterAll(() => stack.close());
beforeEach(() => stack.simulator.faults.clear());

const framesOf = (text: string): { event: string; data: Record<string, unknown> }[] =>
  text
    .trimEnd()
    .split('\n\n')
    .map((frame) => {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      return { event, data: JSON.parse(data) as Record<string, unknown> };
    });

describe('7 errors before the first byte', () => {
  it.each([
    [{ input: 'Hi' }, 'missing_required_parameter', 'model'],
    [{ model: viaChat }, 'missing_required_parameter', 'input'],
    [{ model: viaChat, input: [] }, 'invalid_value', 'input'],
    [{ model: viaChat, input: 7 }, 'invalid_type', 'input'],
    [{ model: viaChat, input: ['Hi'] }, 'invalid_type', 'input[0]'],
    [{ model: viaChat, input: 'Hi', stream: 'yes' }, 'invalid_type', 'stream'],
    [{ model: viaChat, input: 'Hi', store: 'no' }, 'invalid_type', 'store'],
    [{ model: viaChat, input: 'Hi', max_output_tokens: 0 }, 'invalid_value', 'max_output_tokens'],
    [{ model: viaChat, input: 'Hi', previous_response_id: 7 }, 'invalid_type', 'previous_response_id'],
    [{ model: viaChat, input: [{ role: 'wizard', content: 'Hi' }] }, 'invalid_value', 'input[0].role'],
    [{ model: viaChat, input: [{ role: 'user' }] }, 'missing_required_parameter', 'input[0].content'],
    [{ model: viaChat, input: [{ type: 'web_search_call', id: 'ws_1' }] }, 'unsupported_parameter', 'input[0].type'],
    [{ model: viaChat, input: 'Hi', text: { format: { type: 'xml' } } }, 'invalid_value', 'text.format.type'],
  ])('7 %j is refused by its field, at no vendor', async (body, code, param) => {
    const before = stack.simulator.received.length;
    const answer = await stack.post('/responses', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code, param, type: 'invalid_request_error', message: expect.stringContaining('request id: req_') },
    });
    expect(stack.simulator.received.length).toBe(before);
  });

  it.each(all)('7 a vendor’s 400 is told, its 5xx is a 5xx: %s', async (model) => {
    stack.simulator.faults.add({ match: { times: 1 }, fault: { status: 400 } });
    await expect(client.responses.create({ model, input: 'Hi' })).rejects.toMatchObject({ status: 400 });
    stack.simulator.faults.clear();
    stack.simulator.faults.add({ fault: { status: 500 } });
    await expect(client.responses.create({ model, input: 'Hi' })).rejects.toMatchObject({
      status: 502,
      type: 'server_error',
      requestID: expect.stringMatching(/^req_/),
    });
    expect((await stack.usage())[0]).toMatchObject({ quota: 0, outcome: 'error' });
  });

  it.each([
    ['an error status', { status: 503 }],
    ['an error in a 200', { error200: true }],
    ['an empty 200', { empty200: true }],
    ['a page of HTML', { wrongtype: true }],
    ['an error as the first event', { errorframe: 0 }],
    ['a first event that is cut', { cut: 0 }],
  ])('another account is asked after %s, streamed', async (_name, fault) => {
    stack.simulator.faults.add({ match: { path: '/responses', times: 1 }, fault });
    const events = await eventsOf(await client.responses.create({ model: viaNative, input: 'Hi', stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
    expect((await stack.usage())[0]).toMatchObject({ attempts: 2, outcome: 'ok' });
  });
});

describe('7 errors within the stream', () => {
  it.each(['failed', 'flat', 'nested'] as const)('every form that a vendor has becomes one: %s', async (errorform) => {
    stack.simulator.faults.add({ match: { path: '/responses', times: 1 }, fault: { errorframe: 5, errorform } });
    const answer = await stack.post('/responses', { model: viaNative, input: 'Hi [chunks=6]', stream: true });
    const frames = framesOf(await answer.text());
    expect(frames.map(({ data }) => data.sequence_number)).toEqual(frames.map((_, index) => index));
    const [failed, error] = frames.slice(-2);
    expect(failed).toMatchObject({
      event: 'response.failed',
      data: { response: { id: expect.stringMatching(/^resp_/), status: 'failed', error: { code: 'upstream_error' } } },
    });
    // Flat, as it is documented, and nested, as SDKs look for it.
    expect(error).toMatchObject({
      event: 'error',
      data: {
        type: 'error',
        code: 'upstream_error',
        message: expect.stringContaining('request id'),
        param: null,
        error: { type: 'server_error', code: 'upstream_error' },
      },
    });
    expect((await stack.usage())[0]).toMatchObject({ outcome: 'error', code: 'upstream_error', status: 200 });
  });

  it('4.1 POST /v1/responses what a client calls `error` in its tools and schemas is no error of the vendor’s', async () => {
    const named = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] };
    const closed = { ...named, additionalProperties: false };
    const events = await eventsOf(
      await client.responses.create({
        model: viaNative,
        input: 'Hello [calls=0]',
        stream: true,
        metadata: { type: 'response.failed' },
        tools: [{ type: 'function', name: 'report', parameters: closed, strict: true }],
        tool_choice: 'none',
        text: { format: { type: 'json_schema', name: 'verdict', schema: closed, strict: true } },
      }),
    );
    expect(events.at(-1)!.type).toBe('response.completed');
    expect((await stack.usage())[0]).toMatchObject({ outcome: 'ok', attempts: 1, usageSource: 'measured' });
  });

  it.each([
    ['type first', { type: 'response.created' }, {}],
    ['type last', {}, { type: 'response.created' }],
  ])(
    '4.1 POST /v1/responses metadata that a vendor tells back is no event where its events have no names: %s',
    (_, before, after) => {
      const tap = responses.relay.stream({ body: {} } as ChatCall);
      const response = {
        id: 'resp_1',
        metadata: { type: 'response.completed' },
        tools: [{ parameters: { error: {} } }],
      };
      const frame = `data: ${JSON.stringify({ ...before, response, ...after })}\n\n`;
      expect(tap.push(Buffer.from(frame))?.toString()).toBe(frame);
      expect(tap).toMatchObject({ begun: true, finished: false, complete: false, error: null });
      tap.push(Buffer.from(`data: {"error":{"message":"broken"},"response":{}}\n\n`));
      expect(tap.error).toMatchObject({ message: 'broken' });
    },
  );

  it.each([viaNative, ...translated])('the SDK throws, and what was sent is charged: %s', async (model) => {
    stack.simulator.faults.add({ match: { times: 1 }, fault: { errorframe: 6 } });
    const stream = await client.responses.create({ model, input: 'Hi [chunks=20] [tokens=200]', stream: true });
    await expect(eventsOf(stream)).rejects.toMatchObject({ code: expect.stringMatching(/^upstream_/) });
    const [row] = await stack.usage();
    expect(row).toMatchObject({ outcome: 'error', usageSource: expect.any(String) });
    expect(row!.outputTokens).toBeGreaterThan(0);
  });

  it.each([viaNative, viaChat])('a stream that is cut ends with an error, not as an answer: %s', async (model) => {
    stack.simulator.faults.add({ match: { times: 1 }, fault: { cut: 8 } });
    const answer = await stack.post('/responses', { model, input: 'Hi [chunks=20]', stream: true });
    const frames = framesOf(await answer.text());
    expect(frames.at(-1)).toMatchObject({ event: 'error' });
    expect(frames.some(({ event }) => event === 'response.completed')).toBe(false);
  });

  it('7 a broken answer is not kept', async () => {
    stack.simulator.faults.add({ match: { times: 1 }, fault: { cut: 8 } });
    const answer = await stack.post('/responses', { model: viaChat, input: 'Hi [chunks=20]', stream: true });
    const [created] = framesOf(await answer.text());
    const { id } = created!.data.response as { id: string };
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});
