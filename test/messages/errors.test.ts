/** Errors on the routes of messages: their form from authentication on, before and within a stream. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { ask, clientOf, modelOf, startMessages, textOf, vendorProtocols, ways } from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startMessages({
    edit({ models, channels }) {
      for (const [name, vendorModel] of Object.entries(faulty)) {
        models.models[name] = { family: 'chat', price: { input: '1', output: '1' } };
        const channel = name.startsWith('chat-') ? 'only-openai-chat' : 'only-anthropic-messages';
        channels.channels[channel].models[name] = vendorModel;
      }
      channels.channels['simulated-anthropic'].models['two-channels'] = 'claude-haiku-4-5';
      const { 'simulated-anthropic': account } = channels.channels;
      const poor = { ...account, credentials: ['sk-quota-empty'], models: { 'own-poor': 'claude-haiku-4-5' } };
      channels.channels.poor = poor;
      channels.channels.limited = { ...account, models: { 'own-limited': 'claude-haiku-4-5!status=429,retryAfter=7' } };
      for (const name of ['own-poor', 'own-limited']) models.models[name] = models.models['own-fails'];
    },
  });
});
afterAll(() => stack.close());

const faulty = {
  'own-breaks': 'claude-haiku-4-5!errorframe=4',
  'own-fails': 'claude-haiku-4-5!status=529',
  'own-refuses': 'claude-haiku-4-5!refuse=safety',
  'own-cut': 'claude-haiku-4-5!cut=4',
  'own-unmarked': 'claude-haiku-4-5!nodone',
  'own-uncounted': 'claude-haiku-4-5!nousage',
  'chat-breaks': 'gpt-4.1-mini!errorframe=4',
  'chat-uncounted': 'gpt-4.1-mini!nousage',
  'two-channels': 'claude-haiku-4-5!errorframe=0',
};

interface Body {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string; readonly details?: { error_code?: string } };
  readonly request_id: string;
}

const raw = (path: string, body: unknown, headers: Record<string, string>) =>
  fetch(`${stack.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const plain = { model: modelOf('openai-chat'), max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };

describe.each(['/messages', '/messages/count_tokens'])('7 errors of POST /v1%s', (path) => {
  it.each([
    ['no key', {}, 'missing_api_key'],
    ['a malformed key', { 'x-api-key': 'wrong' }, 'malformed_api_key'],
    ['an unknown key', { 'x-api-key': `sk-${'0'.repeat(48)}` }, 'invalid_api_key'],
  ])('401 with %s, in the form of messages with the request id', async (_name, headers, code) => {
    const response = await raw(path, plain, headers);
    const body = (await response.json()) as Body;
    expect(response.status).toBe(401);
    expect(body).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error', details: { error_code: code } },
    });
    expect(body.request_id).toMatch(/^req_/);
    expect(response.headers.get('request-id')).toBe(body.request_id);
    expect(response.headers.get('x-request-id')).toBe(body.request_id);
    expect(body.error.message).toContain(`(request id: ${body.request_id})`);
  });

  it.each([
    ['broken JSON', '{', 400, 'invalid_request_error'],
    ['no model', { ...plain, model: undefined }, 400, 'invalid_request_error'],
    ['no messages', { ...plain, messages: [] }, 400, 'invalid_request_error'],
    ['an unknown model', { ...plain, model: 'nobody' }, 404, 'not_found_error'],
    ['a model that only draws', { ...plain, model: 'alpha-image-1k' }, 400, 'invalid_request_error'],
  ])('%s', async (name, body, status, type) => {
    const response = await raw(path, body, { 'x-api-key': stack.key });
    const { error } = (await response.json()) as Body;
    expect([response.status, error.type]).toEqual([status, type]);
    if (name === 'a model that only draws') expect(error.message).toContain('/v1/images/generations');
  });
});

it.each([
  ['max_tokens is missing', { max_tokens: undefined }, '`max_tokens` is required.'],
  ['max_tokens is no number', { max_tokens: 'many' }, '`max_tokens` must be an integer.'],
  ['stream is a word', { stream: 'yes' }, '`stream` must be true or false.'],
  ['a message without a role', { messages: [{ content: 'Hi' }] }, '`messages[0].role` must be a string.'],
])('4.1 POST /v1/messages where %s', async (_name, fields, message) => {
  const response = await raw('/messages', { ...plain, ...fields }, { 'x-api-key': stack.key });
  expect(response.status).toBe(400);
  expect(((await response.json()) as Body).error.message).toContain(message);
});

it('7 403 and 413 have their types', async () => {
  const key = await stack.createKey({ models: ['demo-chat'] });
  await expect(clientOf(stack, key).messages.create(plain as never)).rejects.toMatchObject({
    status: 403,
    error: { error: { type: 'permission_error' } },
  });
  const large = await raw('/messages', `{"x":"${'x'.repeat(33 * 1024 * 1024)}"}`, { 'x-api-key': stack.key });
  expect(large.status).toBe(413);
  expect(((await large.json()) as Body).error.type).toBe('request_too_large');
});

describe('7 what a vendor of messages reports', () => {
  it('an overloaded one is 503, and the SDK knows the request id', async () => {
    const error = await ask(stack, false, { model: 'own-fails', messages: 'Hi' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ status: 503, requestID: expect.stringMatching(/^req_/) });
    expect((error as InstanceType<typeof Anthropic.APIError>).message).toContain('overloaded_error');
  });

  it('its patience is handed on', async () => {
    const response = await stack.post('/messages', { ...plain, model: 'own-limited' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    expect(((await response.json()) as Body).error.type).toBe('rate_limit_error');
  });

  it('an account without credit is the operator’s trouble: the client hears 502 and no word of it', async () => {
    const response = await stack.post('/messages', { ...plain, model: 'own-poor' });
    const body = await response.text();
    expect(response.status).toBe(502);
    expect(body).not.toMatch(/credit/i);
  });

  it('an error as the first event is no answer: the next channel is tried', async () => {
    const messages = await Promise.all(
      Array.from({ length: 4 }, () => ask(stack, true, { model: 'two-channels', messages: 'Hi' })),
    );
    for (const message of messages) expect(textOf(message)).toContain('Hi');
  });
});

describe.each(['own-breaks', 'chat-breaks'])('7 an error within the stream of %s', (model) => {
  it('ends it as an event that the SDK throws, and what was said is billed', async () => {
    const stream = clientOf(stack).messages.stream({ ...plain, model, max_tokens: 100 } as never);
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
    const response = await stack.post('/messages', { ...plain, model, max_tokens: 100, stream: true });
    const frames = (await response.text()).trimEnd().split('\n\n');
    expect(frames[0]).toMatch(/^event: message_start\n/);
    expect(frames.at(-1)).toMatch(/^event: error\ndata: \{"type":"error","error":\{"type":"\w+"/);
    const { request_id } = JSON.parse(frames.at(-1)!.split('\ndata: ')[1]!) as Body;
    const [row] = await stack.usage();
    expect(row).toMatchObject({ requestId: request_id, outcome: 'error', usageSource: 'estimated' });
    expect(row!.outputTokens).toBeGreaterThan(0);
  });
});

describe.each(ways)('2.9 refusals, %s', (_way, streamed) => {
  it('of a vendor of messages come as they are', async () => {
    const message = await ask(stack, streamed, { model: 'own-refuses', messages: 'Hi' });
    expect(message).toMatchObject({ stop_reason: 'refusal', stop_details: { type: 'refusal' } });
  });

  it('of a vendor of messages reach a client of chat completions', async () => {
    const response = await stack.post('/chat/completions', {
      model: 'own-refuses',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: streamed,
    });
    const text = await response.text();
    expect(text).toContain('This request was declined because it may violate the usage policy.');
    expect(text).toContain('"finish_reason":"content_filter"');
  });
});

describe('6.2 streams that lack something', () => {
  it('a vendor of messages that forgets its last event is helped out', async () => {
    expect(textOf(await ask(stack, true, { model: 'own-unmarked', messages: 'Hi there' }))).toContain('Hi there');
    const [row] = await stack.usage();
    expect(row).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
  });

  it('one that is cut off ends in an error', async () => {
    await expect(ask(stack, true, { model: 'own-cut', messages: 'Hi there' })).rejects.toBeInstanceOf(
      Anthropic.APIError,
    );
  });

  it.each(['own-uncounted', 'chat-uncounted'])('usage that %s does not report is estimated', async (model) => {
    const body = { ...plain, model, max_tokens: 100 };
    await (await stack.post('/messages', { ...body, stream: true })).text();
    const [streamed] = await stack.usage();
    await (await stack.post('/messages', body)).text();
    const [whole] = await stack.usage();
    for (const row of [streamed!, whole!]) {
      expect(row).toMatchObject({ usageSource: 'estimated', outcome: 'ok' });
      expect(row.inputTokens).toBeGreaterThan(0);
      expect(row.outputTokens).toBeGreaterThan(0);
    }
  });

  it('the client of a vendor without usage is told the gateway’s estimate', async () => {
    const { usage } = await ask(stack, true, { model: 'chat-uncounted', messages: 'Hi there, how are you?' });
    expect(usage.input_tokens).toBeGreaterThan(5);
    expect(usage.output_tokens).toBeGreaterThan(5);
  });
});

it('4.1 POST /v1/messages knows a vendor of each protocol', () => {
  expect(vendorProtocols.length).toBeGreaterThanOrEqual(3);
});
