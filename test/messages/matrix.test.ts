/** What a client of messages gets from vendors of every protocol, whole and streamed. */
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  ask,
  callsOf,
  lastSent,
  lookUp,
  modelOf,
  otherProtocols,
  pdf,
  pixel,
  startMessages,
  textOf,
  vendorProtocols,
  ways,
} from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startMessages();
});
afterAll(() => stack.close());

const cases = vendorProtocols.flatMap((protocol) => ways.map(([way, streamed]) => ({ protocol, way, streamed })));
const image: Anthropic.ImageBlockParam = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: pixel },
};

describe.each(cases)('4.1 POST /v1/messages, $way, on a vendor of $protocol', ({ protocol, streamed }) => {
  const model = modelOf(protocol);

  it('answers text with the usage', async () => {
    const message = await ask(stack, streamed, { model, system: 'Be brief.', messages: 'Hello you' });
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn', stop_sequence: null });
    expect(message.id).toMatch(/^msg_/);
    expect(textOf(message)).toContain('You said: Hello you');
    expect(message.usage.input_tokens).toBeGreaterThan(4);
    expect(message.usage.output_tokens).toBeGreaterThan(4);
    expect(lastSent(stack)).toContain('Be brief.');
    const [row] = await stack.usage();
    expect(row).toMatchObject({
      endpoint: '/v1/messages',
      model,
      outcome: 'ok',
      usageSource: 'measured',
      inputTokens: message.usage.input_tokens,
      outputTokens: message.usage.output_tokens,
    });
    // Prices of the test: 1 USD in and 4 USD out a million, at half a unit each.
    expect(row!.quota).toBe(Math.round((row!.inputTokens + 4 * row!.outputTokens) / 2));
  });

  it('carries several turns and system text in blocks', async () => {
    const message = await ask(stack, streamed, {
      model,
      system: [
        { type: 'text', text: 'First rule.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Second rule.' },
      ],
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: [{ type: 'text', text: 'Two' }] },
        { role: 'user', content: [{ type: 'text', text: 'Three' }] },
      ],
    });
    expect(textOf(message)).toContain('Three');
    const sent = lastSent(stack);
    for (const said of ['First rule.', 'Second rule.', 'One', 'Two', 'Three']) expect(sent).toContain(said);
  });

  it('carries images and documents', async () => {
    const message = await ask(stack, streamed, {
      model,
      messages: [
        {
          role: 'user',
          content: [
            image,
            {
              type: 'document',
              title: 'plan.pdf',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
            },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain words.' } },
            { type: 'text', text: 'See these' },
          ],
        },
      ],
    });
    expect(textOf(message)).toContain('See these');
    const sent = lastSent(stack);
    for (const said of [pixel, pdf, 'Plain words.']) expect(sent).toContain(said);
  });

  it('calls tools, and takes their results over several turns', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is 42? [calls=2]' }];
    const first = await ask(stack, streamed, { model, messages, tools: [lookUp], tool_choice: { type: 'any' } });
    const calls = callsOf(first);
    expect(first.stop_reason).toBe('tool_use');
    expect(calls.length).toBeGreaterThanOrEqual(protocol === 'openai-responses' ? 1 : 2);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
    for (const call of calls) expect(call).toMatchObject({ name: 'look_up', input: { number: 'Zürich' } });
    messages.push({ role: 'assistant', content: first.content });
    messages.push({
      role: 'user',
      content: [
        ...calls.map(
          ({ id }, index): Anthropic.ToolResultBlockParam => ({
            type: 'tool_result',
            tool_use_id: id,
            content: index === 0 ? [{ type: 'text', text: 'a picture' }, image] : 'no such number',
            is_error: index > 0,
          }),
        ),
        { type: 'text', text: 'Go on' },
      ],
    });
    const second = await ask(stack, streamed, { model, messages, tools: [lookUp], tool_choice: { type: 'none' } });
    expect(second.stop_reason).toBe('end_turn');
    expect(textOf(second)).toContain('Go on');
    const sent = lastSent(stack);
    for (const said of ['a picture', pixel]) expect(sent).toContain(said);
    if (calls.length > 1) expect(sent).toContain('no such number');
  });

  it('calls a tool that takes nothing', async () => {
    const ping: Anthropic.Tool = { name: 'ping', input_schema: { type: 'object', properties: {} } };
    const tool_choice = { type: 'tool', name: 'ping', disable_parallel_tool_use: true } as const;
    const message = await ask(stack, streamed, { model, messages: 'Ping', tools: [lookUp, ping], tool_choice });
    expect(callsOf(message)).toMatchObject([{ name: 'ping', input: {} }]);
  });

  it('says why it stopped', async () => {
    const long = await ask(stack, streamed, { model, messages: 'Tell a tale [tokens=400]', max_tokens: 20 });
    expect(long.stop_reason).toBe('max_tokens');
    const stopped = await ask(stack, streamed, { model, messages: 'Say stop here', stop_sequences: ['stop'] });
    expect(textOf(stopped)).toBe('You said: Say ');
    expect(['end_turn', 'stop_sequence']).toContain(stopped.stop_reason);
    // Only these two say which: the vendor, or the gateway in its place.
    const isTold = protocol === 'anthropic-messages' || protocol === 'openai-responses';
    expect(stopped.stop_sequence).toBe(isTold ? 'stop' : null);
  });

  it('answers after a schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const message = await ask(stack, streamed, {
      model,
      messages: 'Which city?',
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(JSON.parse(textOf(message))).toEqual({ city: 'Zürich' });
  });

  it('tells cached tokens apart', async () => {
    if (protocol === 'anthropic-messages') {
      const text = 'Remember this. '.repeat(600);
      const system = [{ type: 'text', text, cache_control: { type: 'ephemeral' } }] as const;
      const message = await ask(stack, streamed, { model, system: [...system], messages: 'Hello [cached=64]' });
      const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = message.usage;
      const [row] = await stack.usage();
      expect(cache_read_input_tokens).toBe(64);
      expect(row).toMatchObject({
        inputTokens: input_tokens + cache_creation_input_tokens! + 64,
        cachedInputTokens: 64,
        cacheWriteTokens: cache_creation_input_tokens,
      });
      return;
    }
    const message = await ask(stack, streamed, { model, messages: `Hello [cached=8] ${'word '.repeat(40)}` });
    const [row] = await stack.usage();
    expect(message.usage.cache_read_input_tokens).toBe(8);
    expect(message.usage.input_tokens).toBe(row!.inputTokens - 8);
    expect(row!.cachedInputTokens).toBe(8);
  });
});

describe.each(otherProtocols)('4.1 POST /v1/messages on a vendor of %s refuses what would get lost', (protocol) => {
  const model = modelOf(protocol);
  it.each([
    ['tools[0].type', { tools: [{ type: 'web_search_20260318', name: 'web_search' }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'one' }] }],
    ['max_tokens', { max_tokens: 0 }],
    [
      'messages[0].content[0].source.type',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }] }] },
    ],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
  ])('%s', async (named, fields) => {
    const response = await stack.post('/messages', {
      model,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hi' }],
      ...fields,
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe('invalid_request_error');
    expect(error.message).toContain(`\`${named}\``);
  });

  it('does without what only saves money or time', async () => {
    const response = await stack.post('/messages', {
      model,
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
      service_tier: 'auto',
      context_management: { edits: [] },
      metadata: { user_id: 'someone' },
    });
    expect(response.status).toBe(200);
  });
});
