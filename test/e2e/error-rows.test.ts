/** The table of spec 7, row by row: what brings a client there, and what its official SDK makes of it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { chatHead, expectAtRest, sendRaw } from './http-raw.ts';

let stack: Stack;
let faultLine = '';

const crash = `export default {
  name: 'crash', summary: 'A plugin with a fault.', requires: [], provides: [],
  options: { type: 'object', properties: {}, additionalProperties: false },
  create: () => ({ onRequest: ({ call }) => { if (call.model === 'crashing') throw new Error('the secret of the operator'); } }),
};`;

beforeAll(async () => {
  const error = (fields: object, message: string) => {
    faultLine += `${message} ${JSON.stringify(fields, (_key, value) => (value instanceof Error ? value.message : value))}`;
  };
  const ignore = () => {};
  stack = await startStack({
    log: { debug: ignore, info: ignore, warn: ignore, error },
    edit({ channels, models, gateway }) {
      gateway.body = { receiveTimeout: '300ms' };
      const { 'simulated-openai': channel } = channels.channels;
      delete channels.channels['simulated-openai-spare'];
      channel.cooldown = { failures: 1000, first: '1s', longest: '1s' };
      channel.timeouts = { firstByte: '300ms' };
      const served = {
        crashing: 'gpt-4.1-mini',
        slow: 'gpt-4.1-mini!latency=150',
        late: 'gpt-4.1-mini!latency=3000',
        'semantically-wrong': 'gpt-4.1-mini!status=422',
        overloaded: 'gpt-4.1-mini!status=503',
        cut: 'gpt-4.1-mini!reset=read',
        broken: 'gpt-4.1-mini!malformed',
      };
      // Its only channel has no credential, and is left out.
      channels.channels['openai-production'].models.unserved = 'gpt-4.1-mini';
      for (const name of [...Object.keys(served), 'unserved'])
        models.models[name] = { family: 'chat', price: { input: '1', output: '1' } };
      Object.assign(channel.models, served);
    },
  });
  await writeFile(join(stack.folder, 'crash.mjs'), crash);
  await stack.rewrite(({ routes }) => {
    routes.plugins = ['./crash.mjs'];
    routes.chains.chat.push('crash');
  });
  await stack.gateway.reload();
});
afterAll(async () => {
  await expectAtRest(stack);
  await stack.close();
});

const clientOf = (apiKey: string, baseURL = stack.base) => new OpenAI({ apiKey, baseURL, maxRetries: 0 });
const chat = (model: string, key = stack.key, headers: Record<string, string> = {}, content = 'Hello') =>
  clientOf(key).chat.completions.create({ model, messages: [{ role: 'user', content }] }, { headers });

/** Runs what must fail; answers the SDK's error. */
async function failure(request: () => Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const thrown = await request().then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(OpenAI.APIError);
  const error = thrown as InstanceType<typeof OpenAI.APIError>;
  expect(error.message).toContain(`(request id: ${error.requestID})`);
  return error;
}

type ErrorClass = new (...parts: never[]) => Error;

const images = { model: 'beta-3-pro-image', prompt: 'a fox' };

it.each<[number, string, string, ErrorClass, () => Promise<unknown>]>([
  [
    400,
    'n not 1 for beta',
    'invalid_value',
    OpenAI.BadRequestError,
    () => clientOf(stack.key).images.generate({ ...images, n: 2 }),
  ],
  [400, 'a model of another capability', 'unsupported_endpoint', OpenAI.BadRequestError, () => chat('demo-embedding')],
  [
    401,
    'an unknown key',
    'invalid_api_key',
    OpenAI.AuthenticationError,
    () => chat('demo-chat', `sk-${'A'.repeat(48)}`),
  ],
  [
    403,
    'a key without the model',
    'model_not_allowed',
    OpenAI.PermissionDeniedError,
    async () => chat('demo-chat', await stack.createKey({ models: [] })),
  ],
  [
    404,
    'a base address without /v1',
    'unknown_url',
    OpenAI.NotFoundError,
    () => clientOf(stack.key, stack.gateway.url).models.list(),
  ],
  [404, 'a model that nobody knows', 'model_not_found', OpenAI.NotFoundError, () => chat('nope')],
  [
    413,
    'a body that is too large',
    'body_too_large',
    OpenAI.APIError,
    () => clientOf(stack.key).images.generate({ ...images, prompt: 'x'.repeat(1_100_000) }),
  ],
  [
    422,
    'what the vendor understands and cannot do',
    'unprocessable',
    OpenAI.UnprocessableEntityError,
    () => chat('semantically-wrong'),
  ],
  [
    429,
    'a quota that is used up',
    'insufficient_quota',
    OpenAI.RateLimitError,
    async () => chat('demo-chat', await stack.createKey({ quota: 0 })),
  ],
  [500, 'a fault within the gateway', 'internal_error', OpenAI.InternalServerError, () => chat('crashing')],
  [502, 'a vendor that cuts the connection', 'upstream_unreachable', OpenAI.InternalServerError, () => chat('cut')],
  [
    502,
    'a vendor whose answer is no JSON',
    'upstream_invalid_response',
    OpenAI.InternalServerError,
    () => chat('broken'),
  ],
  [
    503,
    'a model whose channels are all left out',
    'no_channel_available',
    OpenAI.InternalServerError,
    () => chat('unserved'),
  ],
  [503, 'a vendor that is overloaded', 'upstream_overloaded', OpenAI.InternalServerError, () => chat('overloaded')],
  [504, 'a vendor that is late', 'upstream_timeout', OpenAI.InternalServerError, () => chat('late')],
])('7 %i: %s is %s', async (status, _what, code, kind, request) => {
  const error = await failure(request);
  expect({ status: error.status, code: error.code }).toEqual({ status, code });
  expect(error).toBeInstanceOf(kind);
});

it('7 500: the log has what the client is not told', async () => {
  const error = await failure(() => chat('crashing'));
  expect(error.message).not.toContain('secret');
  expect(faultLine).toContain('the secret of the operator');
  expect(faultLine).toContain(error.requestID!);
  expect((await stack.usage())[0]).toMatchObject({ status: 500, code: 'internal_error', quota: 0, outcome: 'error' });
});

it('7 408: a body that does not come', async () => {
  const answer = await sendRaw(stack.base, chatHead(stack, ['content-length: 100']));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain('"code":"request_timeout"');
});

it('7 409: one Idempotency-Key for two bodies', async () => {
  const once = { 'idempotency-key': 'row-409' };
  await chat('demo-chat', stack.key, once);
  const error = await failure(() => chat('demo-chat', stack.key, once, 'Something else'));
  expect({ status: error.status, code: error.code }).toEqual({ status: 409, code: 'idempotency_conflict' });
  expect(error).toBeInstanceOf(OpenAI.ConflictError);
});

it.each([
  ['rate', { requestsPerMinute: 1 }],
  ['concurrency', { concurrency: 1 }],
])('7 429: the %s of a key, with Retry-After', async (_what, limits) => {
  const key = await stack.createKey({ limits });
  const first = chat('slow', key);
  const error = await failure(() => chat('slow', key));
  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(Number(error.headers!.get('retry-after'))).toBeGreaterThan(0);
  await first;
});
