import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectAtRest, hello, sendRaw } from './http-raw.ts';

let stack: Stack;
let origin: string;

beforeAll(async () => {
  stack = await startStack({
    edit: (documents) => {
      const { models } = documents.channels.channels['simulated-openai'];
      delete documents.channels.channels['simulated-openai-spare'];
      for (const status of [400, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504]) {
        documents.models.models[`status-${status}`] = { family: 'chat', price: { input: '1', output: '1' } };
        models[`status-${status}`] = `gpt-4.1-mini!status=${status}`;
      }
      documents.models.models['cut-chat'] = { family: 'chat', price: { input: '1', output: '1' } };
      models['cut-chat'] = 'gpt-4.1-mini!reset=read';
      documents.models.models['late-chat'] = { family: 'chat', price: { input: '1', output: '1' } };
      models['late-chat'] = 'gpt-4.1-mini!latency=3000';
      // No failure rests a channel: each case must reach the vendor.
      documents.channels.channels['simulated-openai'].cooldown = { failures: 1000, first: '1s', longest: '1s' };
      documents.channels.channels['simulated-openai'].timeouts = { firstByte: '300ms' };
    },
  });
  origin = stack.gateway.url;
});
afterAll(() => stack.close());

const chat = (model: string, more: object = {}) =>
  stack.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }], ...more });

async function expectError(response: Response, status: number, code: string) {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json');
  const id = response.headers.get('x-request-id');
  expect(id).toMatch(/^req_\w{20,}$/);
  const body = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(body.error.code).toBe(code);
  expect(typeof body.error.type).toBe('string');
  expect(String(body.error.message).endsWith(` (request id: ${id})`)).toBe(true);
  return body.error as { message: string; type: string; param: string | null; code: string };
}

describe('7 the table of errors, as a client sees it', () => {
  it.each([
    ['400 bad JSON', () => stack.post('/chat/completions', '{"model":'), 400, 'invalid_json', null],
    [
      '400 a field that is missing',
      () => stack.post('/chat/completions', {}),
      400,
      'missing_required_parameter',
      'model',
    ],
    [
      '400 a parameter of the wrong type',
      () => chat('demo-chat', { temperature: 'hot' }),
      400,
      'invalid_type',
      'temperature',
    ],
    ['400 capability mismatch', () => chat('demo-embedding'), 400, 'unsupported_endpoint', 'model'],
    [
      '400 conflicting sizes',
      () =>
        stack.post('/images/generations', {
          model: 'beta-3-pro-image',
          prompt: 'x',
          size: '1024x1024',
          aspect_ratio: '16:9',
        }),
      400,
      'conflicting_parameters',
      null,
    ],
    [
      '400 beta with n = 2',
      () => stack.post('/images/generations', { model: 'beta-3-pro-image', prompt: 'x', n: 2 }),
      400,
      'invalid_value',
      'n',
    ],
    [
      '401 a wrong key',
      () => stack.post('/chat/completions', hello, { authorization: 'Bearer sk-nope' }),
      401,
      'malformed_api_key',
      null,
    ],
    ['404 an unknown model', () => chat('nope'), 404, 'model_not_found', 'model'],
    [
      '415 a wrong content type',
      () => stack.post('/chat/completions', hello, { 'content-type': 'text/plain' }),
      415,
      'unsupported_content_type',
      null,
    ],
  ] as const)('7 %s', async (_name, send, status, code, param) => {
    const error = await expectError(await send(), status, code);
    if (param !== null) expect(error.param).toBe(param);
    await expectAtRest(stack, 0);
  });

  it.each([
    ['{"model":', 'it ends too early.'],
    [`{"model":"${'m'.repeat(60)}","n":1,,}`, 'it goes wrong at character 78.'],
    ['{"model":}', 'a "}" stands where none may.'],
    ['\uFEFF{"model":"demo-chat"}', 'it begins with a byte order mark; leave that out.'],
  ])('7 bad JSON: %s', async (body, place) => {
    const { message } = await expectError(await stack.post('/chat/completions', body), 400, 'invalid_json');
    expect(message).toContain(`The body is not valid JSON: ${place}`);
  });

  it.each([
    [400, 400, 'vendor_refused_request'],
    [403, 403, 'vendor_refused_request'],
    [404, 404, 'model_not_found'],
    [408, 504, 'upstream_timeout'],
    [409, 409, 'conflict'],
    [413, 413, 'body_too_large'],
    [422, 422, 'unprocessable'],
    [429, 429, 'upstream_rate_limited'],
    [500, 502, 'upstream_error'],
    [502, 502, 'upstream_error'],
    [503, 503, 'upstream_overloaded'],
    [504, 504, 'upstream_timeout'],
  ] as const)('7 a vendor that answers %i is a %i, %s', async (given, status, code) => {
    await expectError(await chat(`status-${given}`), status, code);
    await expectAtRest(stack, 0);
  });

  it('7 502 a vendor that cuts the connection', async () => {
    await expectError(await chat('cut-chat'), 502, 'upstream_unreachable');
    await expectAtRest(stack, 0);
  });

  it('7 504 a vendor that does not answer in time', async () => {
    await expectError(await chat('late-chat'), 504, 'upstream_timeout');
    await expectAtRest(stack, 0);
  });

  it('7 no answer names a secret, neither of the client nor of the channel', async () => {
    for (const model of ['status-400', 'status-500', 'cut-chat', 'nope']) {
      const text = await (await chat(model)).text();
      expect(text).not.toContain(stack.key);
      expect(text).not.toContain('sk-simulated');
    }
  });
});

describe('7 the request id', () => {
  it.each([
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/metrics', 200],
    ['HEAD', '/healthz', 200],
    ['GET', '/', 404],
    ['GET', '/v1/nothing', 404],
    ['GET', '/files/images/nothing.png', 404],
    ['DELETE', '/v1/models', 405],
    ['OPTIONS', '/v1/chat/completions', 204],
    ['GET', '/v1/models', 401],
  ])('7 %s %s carries x-request-id', async (method, path, status) => {
    const response = await fetch(origin + path, { method });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toMatch(/^req_\w+$/);
    await response.arrayBuffer();
  });

  it('7 is never given twice', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(`${origin}/nothing`)).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(50);
  });
});

describe('7 URL forms', () => {
  it.each([
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/v1/models', '/v1/models'],
    ['/chat/completions', '/v1/chat/completions'],
    ['/models', '/v1/models'],
    ['/images/generations', '/v1/images/generations'],
    ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completions/v1/chat/completions', '/v1/chat/completions'],
    ['/chat/completions/chat/completions', '/v1/chat/completions'],
    ['/v1/images/generations/images/generations', '/v1/images/generations'],
    ['/v1/chat/completions/', '/v1/chat/completions'],
    ['/v1//chat/completions', '/v1/chat/completions'],
    ['//v1/chat/completions', '/v1/chat/completions'],
  ])('7 %s is 404 and names %s', async (path, meant) => {
    for (const method of ['POST', 'GET']) {
      const response = await fetch(origin + path, { method });
      const error = await expectError(response, 404, 'unknown_url');
      expect(error.message).toContain(`Did you mean ${meant}?`);
    }
  });

  it('7 a path that resembles nothing is 404 without a guess', async () => {
    const error = await expectError(await fetch(`${origin}/admin/../etc`), 404, 'unknown_url');
    expect(error.message).not.toContain('Did you mean');
  });

  it('7 a very long path is answered at once and not repeated whole', async () => {
    const started = performance.now();
    const answer = await sendRaw(origin, `GET ${'/v1'.repeat(4000)} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(answer).toMatch(/^HTTP\/1.1 404 /);
    expect(answer.length).toBeLessThan(1_000);
  });
});

describe('7 methods', () => {
  it.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/images/edits', 'POST'],
    ['PUT', '/v1/models', 'GET, HEAD'],
    ['PATCH', '/v1/models/x', 'GET, HEAD'],
  ])('7 %s %s is 405 and Allow says %s', async (method, path, allowed) => {
    const response = await fetch(origin + path, { method });
    expect(response.headers.get('allow')).toBe(`${allowed}, OPTIONS`);
    await expectError(response, 405, 'method_not_supported');
  });

  it('7 OPTIONS says what a path allows', async () => {
    const response = await fetch(`${origin}/v1/models`, { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('7 HEAD is answered as GET, without a body, also where it fails', async () => {
    const authorization = `Bearer ${stack.key}`;
    const expected = await (await fetch(`${origin}/v1/models`, { headers: { authorization } })).text();
    const head = (path: string, header = '') => `HEAD ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\n`;
    const answer = await sendRaw(origin, head('/v1/models', `authorization: ${authorization}\r\n`));
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer.toLowerCase()).toContain(`content-length: ${expected.length}`);
    for (const text of [
      answer,
      await sendRaw(origin, head('/v1/models')),
      await sendRaw(origin, head('/nothing')),
      await sendRaw(origin, head('/v1/chat/completions')),
      await sendRaw(origin, head('/readyz')),
      await sendRaw(origin, head('/metrics')),
    ])
      expect(text.slice(text.indexOf('\r\n\r\n'))).toBe('\r\n\r\n');
    await expectAtRest(stack, 0);
  });
});
