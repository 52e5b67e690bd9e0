/** Errors that come before any route's own code has run, in the form of the protocol whose client asked. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

// biome-ignore lint/suspicious/noExplicitAny: the shapes of three forms
type Body = any;

const openAi = ({ error }: Body, status: number) => {
  expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  expect(status).toBeGreaterThan(399);
};
const anthropic = (body: Body, _status: number, headers: Headers) => {
  expect(body).toMatchObject({ type: 'error', error: { type: expect.any(String), message: expect.any(String) } });
  expect(headers.get('request-id')).toBe(body.request_id);
};
const google = ({ error }: Body, status: number) =>
  expect(error).toMatchObject({
    code: status,
    message: expect.any(String),
    status: expect.stringMatching(/^[A-Z_]+$/),
  });

const forms = [
  ['/v1/chat/completions', '/v1/chat/nothing', openAi],
  ['/v1/completions', '/v1/nothing', openAi],
  ['/v1/responses', '/v1/responses/a/b/c', openAi],
  ['/v1/messages', '/v1/messages/nothing', anthropic],
  ['/v1/messages/count_tokens', '/v1/messages/batches', anthropic],
  ['/v1beta/models/demo-gemini:generateContent', '/v1beta/files', google],
  ['/v1beta/models/demo-gemini:streamGenerateContent', '/v1beta/nothing', google],
  ['/v1beta/models/demo-gemini:countTokens', '/v1beta', google],
] as const;

describe.each(forms)('7 %s', (path, unknown, check) => {
  const ask = async (at: string, init: RequestInit, status: number) => {
    const response = await fetch(stack.gateway.url + at, init);
    const answered: Body = await response.json();
    expect(response.status, JSON.stringify(answered)).toBe(status);
    // Who asked for a stream as one array gets its error as an array of one.
    const isArray = init.method === 'POST' && at.split('?')[0]!.endsWith(':streamGenerateContent');
    expect(Array.isArray(answered)).toBe(isArray);
    const [body] = [answered].flat();
    check(body, status, response.headers);
    const { message } = body.error;
    expect(message).toContain(response.headers.get('x-request-id'));
  };
  const json = { 'content-type': 'application/json' };
  const authorization = () => `Bearer ${stack.key}`;

  it('has its own form without a key, and with a bad one in each place', async () => {
    await ask(path, { method: 'POST', headers: json, body: '{}' }, 401);
    const bad = `sk-${'x'.repeat(48)}`;
    for (const headers of [{ authorization: `Bearer ${bad}` }, { 'x-api-key': bad }, { 'x-goog-api-key': bad }])
      await ask(path, { method: 'POST', headers: { ...json, ...headers }, body: '{}' }, 401);
    await ask(`${path}?key=${bad}`, { method: 'POST', headers: json, body: '{}' }, 401);
  });

  it('has it where the body is not JSON', async () => {
    const headers = { ...json, authorization: authorization() };
    await ask(path, { method: 'POST', headers, body: '{' }, 400);
    await ask(path, { method: 'POST', headers: { ...headers, 'content-type': 'text/html' }, body: '{}' }, 415);
  });

  it('has it where the method is another, and beside the path', async () => {
    await ask(path, { method: 'PATCH', headers: { authorization: authorization() } }, 405);
    await ask(unknown, { method: 'POST', headers: { ...json, authorization: authorization() }, body: '{}' }, 404);
  });
});

describe('7 /v1beta/models/{model}:{verb}', () => {
  const post = (at: string) => fetch(stack.gateway.url + at, { method: 'POST', body: '{}' });

  it.each(['demo-gemini:embedContent', 'demo-gemini:', 'team/model:tune:now'])(
    '%s is 404 and names the verbs',
    async (at) => {
      const response = await post(`/v1beta/models/${at}`);
      const { error }: Body = await response.json();
      expect(response.status).toBe(404);
      google({ error }, 404);
      expect(error).toMatchObject({ status: 'NOT_FOUND' });
      for (const verb of [':generateContent', ':streamGenerateContent', ':countTokens'])
        expect(error.message).toContain(verb);
    },
  );

  it('without a verb is 405 and names the methods', async () => {
    const response = await post('/v1beta/models/demo-gemini');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('as events fails in an object', async () => {
    const response = await post('/v1beta/models/demo-gemini:streamGenerateContent?alt=sse');
    google(await response.json(), 401);
  });

  it('as an array fails in an array also where the vendor refuses', async () => {
    const response = await fetch(`${stack.gateway.url}/v1beta/models/nobody:streamGenerateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': stack.key },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
    });
    const [only, ...others]: Body[] = (await response.json()) as Body[];
    expect(others).toEqual([]);
    google(only, response.status);
  });
});

describe('4.5 GET /v1/models fails in the form that its list would have', () => {
  const bad = `sk-${'x'.repeat(48)}`;
  type Way = [way: string, asked: (key: string) => [Record<string, string>, string], check: typeof anthropic];
  const ways: Way[] = [
    ['a Bearer key', (key: string) => [{ authorization: `Bearer ${key}` }, ''], openAi],
    ['x-api-key', (key: string) => [{ 'x-api-key': key }, ''], anthropic],
    [
      'anthropic-version',
      (key: string) => [{ authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' }, ''],
      anthropic,
    ],
    ['x-goog-api-key', (key: string) => [{ 'x-goog-api-key': key }, ''], google],
    ['?key=', (key: string) => [{}, `?key=${key}`], google],
  ];

  it.each(ways)('%s', async (_way, asked, check) => {
    for (const [key, path, status] of [
      [bad, '/v1/models', 401],
      [bad, '/v1/models/demo-chat', 401],
      [stack.key, '/v1/models/nobody', 404],
    ] as const) {
      const [headers, query] = asked(key);
      const response = await fetch(stack.gateway.url + path + query, { headers });
      expect(response.status).toBe(status);
      const body: Body = await response.json();
      check(body, status, response.headers);
      expect(body.error.message).toContain(response.headers.get('x-request-id'));
    }
  });

  it('without any key OpenAI’s, but for who names a version', async () => {
    const plain = await fetch(`${stack.gateway.url}/v1/models`);
    openAi(await plain.json(), 401);
    const versioned = await fetch(`${stack.gateway.url}/v1/models`, { headers: { 'anthropic-version': '2023-06-01' } });
    anthropic(await versioned.json(), 401, versioned.headers);
  });
});
