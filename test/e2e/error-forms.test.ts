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
    const body: Body = await response.json();
    expect(response.status, JSON.stringify(body)).toBe(status);
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
