import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccounts } from '../../engine/ledger/index.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectAtRest, hello, openRaw, sendRaw } from './http-raw.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    edit: (documents) => {
      documents.channels.groups.images = { multiplier: '1' };
      documents.channels.groups.nobody = { multiplier: '1' };
      documents.channels.channels['simulated-gemini'].groups.push('images');
      documents.channels.channels['simulated-openai'].models['resting-chat'] = 'gpt-4.1-mini!status=503';
      documents.models.models['resting-chat'] = { family: 'chat', price: { input: '1', output: '1' } };
      for (const name of ['simulated-openai', 'simulated-openai-spare'])
        documents.channels.channels[name].cooldown = { failures: 1000, first: '1s', longest: '1s' };
    },
  });
});
afterAll(async () => {
  await expectAtRest(stack);
  await stack.close();
});

const unknown = `sk-${'A'.repeat(48)}`;

async function ask(headers: Record<string, string>, body = hello) {
  const response = await fetch(`${stack.base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const parsed = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, code: parsed.error?.code, message: parsed.error?.message };
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('5 the ways to send a key', () => {
  it.each([
    ['Authorization: Bearer', () => bearer(stack.key)],
    ['bearer in small letters', () => ({ authorization: `bearer ${stack.key}` })],
    ['several blanks', () => ({ authorization: `Bearer   ${stack.key} ` })],
    ['x-api-key', () => ({ 'x-api-key': stack.key })],
    ['both, the same', () => ({ ...bearer(stack.key), 'x-api-key': stack.key })],
    ['both, the Authorization counts', () => ({ ...bearer(stack.key), 'x-api-key': unknown })],
    ['an empty Authorization beside x-api-key', () => ({ authorization: '', 'x-api-key': stack.key })],
  ] as const)('5 %s', async (_name, headers) => {
    expect(await ask(headers() as Record<string, string>)).toMatchObject({ status: 200 });
  });

  it('5 the official SDK, with a base address that ends in /v1', async () => {
    const client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
    expect((await client.models.list()).data.length).toBeGreaterThan(0);
    const wrong = new OpenAI({ baseURL: stack.base, apiKey: unknown, maxRetries: 0 });
    await expect(wrong.models.list()).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      requestID: expect.stringMatching(/^req_/),
    });
    await expect(wrong.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });
});

describe('5 a credential that is no good gets 401', () => {
  it.each([
    ['none at all', {}, 'missing_api_key'],
    ['an empty x-api-key', { 'x-api-key': '' }, 'missing_api_key'],
    ['Basic', { authorization: 'Basic c2stOng=' }, 'malformed_api_key'],
    ['a key without Bearer', { authorization: unknown }, 'malformed_api_key'],
    ['Bearer without a key', { authorization: 'Bearer' }, 'malformed_api_key'],
    ['Bearer with blanks', { authorization: 'Bearer    ' }, 'malformed_api_key'],
    ['another prefix', bearer(`pk-${'A'.repeat(48)}`), 'malformed_api_key'],
    ['one letter less', bearer(unknown.slice(0, -1)), 'malformed_api_key'],
    ['one letter more', bearer(`${unknown}A`), 'malformed_api_key'],
    ['a sign within', bearer(`sk-${'A'.repeat(47)}-`), 'malformed_api_key'],
    ['a letter beyond ASCII', bearer(`sk-${'A'.repeat(47)}\u00e9`), 'malformed_api_key'],
    ['10,000 letters', bearer(`sk-${'A'.repeat(10_000)}`), 'malformed_api_key'],
    ['two keys', bearer(`${unknown}, ${unknown}`), 'malformed_api_key'],
    ['x-api-key malformed', { 'x-api-key': 'hello' }, 'malformed_api_key'],
    ['unknown', bearer(unknown), 'invalid_api_key'],
    ['unknown, by x-api-key', { 'x-api-key': unknown }, 'invalid_api_key'],
  ] as const)('5 %s', async (_name, headers, code) => {
    const answer = await ask(headers as Record<string, string>);
    expect(answer).toMatchObject({ status: 401, code });
    expect(answer.message).not.toContain('AAAA');
  });

  it('5 the case of a key counts', async () => {
    const other = stack.key.slice(0, 3) + stack.key.slice(3).replace(/[a-z]/g, (letter) => letter.toUpperCase());
    expect(await ask(bearer(other))).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('5 expired', async () => {
    const gone = await stack.createKey({ expiresAt: Date.now() - 1 });
    expect(await ask(bearer(gone))).toMatchObject({ status: 401, code: 'expired_api_key' });
    const soon = await stack.createKey({ expiresAt: Date.now() + 400 });
    expect(await ask(bearer(soon))).toMatchObject({ status: 200 });
    await delay(450);
    expect(await ask(bearer(soon))).toMatchObject({ status: 401, code: 'expired_api_key' });
  });

  it('5 disabled', async () => {
    const key = await stack.createKey();
    expect(await ask(bearer(key))).toMatchObject({ status: 200 });
    await stack.gateway.ledger.accounts.revokeKey(key);
    expect(await ask(bearer(key))).toMatchObject({ status: 401, code: 'disabled_api_key' });
  });

  it('5 a disabled account', async () => {
    const { accounts } = stack.gateway.ledger;
    const user = await accounts.createUser({ name: 'leaver' });
    await accounts.credit(user.id, 1_000_000, 'test');
    const { secret } = await accounts.createKey({ userId: user.id, name: 'one', group: 'default' });
    expect(await ask(bearer(secret))).toMatchObject({ status: 200 });
    await accounts.disableUser(user.id, true);
    expect(await ask(bearer(secret))).toMatchObject({ status: 401, code: 'account_disabled' });
    await accounts.disableUser(user.id, false);
    expect(await ask(bearer(secret))).toMatchObject({ status: 200 });
  });

  it('5 what another process changes counts within a second', async () => {
    const elsewhere = await openAccounts(join(stack.data));
    try {
      const { secret } = await elsewhere.createKey({ userId: stack.userId, name: 'elsewhere', group: 'default' });
      expect(await ask(bearer(secret))).toMatchObject({ status: 200 });
      await elsewhere.revokeKey(secret);
      await expect
        .poll(() => ask(bearer(secret)), { timeout: 5_000 })
        .toMatchObject({ status: 401, code: 'disabled_api_key' });
    } finally {
      await elsewhere.close();
    }
  });

  it('5 a key that was asked for before it existed is known within a second', async () => {
    const elsewhere = await openAccounts(join(stack.data));
    try {
      expect(await ask(bearer(unknown))).toMatchObject({ code: 'invalid_api_key' });
      const { secret } = await elsewhere.createKey({ userId: stack.userId, name: 'late', group: 'default' });
      await expect.poll(() => ask(bearer(secret)), { timeout: 5_000 }).toMatchObject({ status: 200 });
    } finally {
      await elsewhere.close();
    }
  });
});

describe('5 401 comes before anything else is looked at', () => {
  const head = (lines: readonly string[]) =>
    `${['POST /v1/chat/completions HTTP/1.1', 'host: x', ...lines].join('\r\n')}\r\n\r\n`;

  it.each([
    ['no key', []],
    ['a malformed key', ['authorization: Bearer nope']],
    ['an unknown key', [`authorization: Bearer sk-${'B'.repeat(48)}`]],
  ])('5 the body of %s is not waited for', async (_name, lines) => {
    const started = performance.now();
    const text = await sendRaw(
      stack.base,
      head([...lines, 'content-type: application/json', 'content-length: 9999999999']),
    );
    expect(text).toMatch(/^HTTP\/1.1 401 /);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('5 an unknown key with a wrong content type is 401, known or not in the cache', async () => {
    const wrong = { ...bearer(`sk-${'C'.repeat(48)}`), 'content-type': 'text/plain' };
    expect(await ask(wrong)).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(await ask(wrong)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('5 an unknown key does not learn what the gateway thinks of its body', async () => {
    for (const body of ['', '{', '{"model":"nope"}'])
      expect(await ask(bearer(`sk-${'D'.repeat(48)}`), body)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('5 the rest of a refused body does no harm to the next request on the connection', async () => {
    const connection = await openRaw(stack.base);
    connection.send(`${head(['content-type: application/json', 'content-length: 10'])}01234`);
    await connection.until('request id');
    connection.send(`56789GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`);
    const text = await connection.until('200 OK', 1_000);
    connection.close();
    expect(text === '' || /401 Unauthorized/.test(text)).toBe(true);
    expect(text.match(/HTTP\/1\.1 4/g)).toHaveLength(1);
  });
});

describe('5 which models a key may use', () => {
  const chat = async (key: string, model: string, path = '/chat/completions') => {
    const content = path.startsWith('/images')
      ? { prompt: 'a fox' }
      : { messages: [{ role: 'user', content: 'Hello' }] };
    const response = await stack.post(path, { model, ...content }, bearer(key));
    const body = (await response.json()) as { error?: { code: string; param: string | null } };
    return { status: response.status, code: body.error?.code, param: body.error?.param };
  };

  it('5 an allowlist: what it names is served, what it does not is 403', async () => {
    const key = await stack.createKey({ models: ['demo-chat'] });
    expect(await chat(key, 'demo-chat')).toMatchObject({ status: 200 });
    expect(await chat(key, 'demo-reasoner')).toMatchObject({ status: 403, code: 'model_not_allowed', param: 'model' });
    expect(await chat(key, 'nope')).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  it('5 an empty allowlist allows nothing', async () => {
    const key = await stack.createKey({ models: [] });
    expect(await chat(key, 'demo-chat')).toMatchObject({ status: 403, code: 'model_not_allowed' });
  });

  it('5 an allowlist does not make a model of an unknown name', async () => {
    const key = await stack.createKey({ models: ['nope'] });
    expect(await chat(key, 'nope')).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('5 a group without the model is 403', async () => {
    const key = await stack.createKey({ group: 'images' });
    expect(await chat(key, 'demo-chat')).toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect(await chat(key, 'beta-3-pro-image', '/images/generations')).toMatchObject({ status: 200 });
  });

  it('5 a group without any model is 403, a group that is no more too', async () => {
    expect(await chat(await stack.createKey({ group: 'nobody' }), 'demo-chat')).toMatchObject({ status: 403 });
    expect(await chat(await stack.createKey({ group: 'vanished' }), 'demo-chat')).toMatchObject({ status: 403 });
  });

  it('7 a model of another capability is 400', async () => {
    expect(await chat(stack.key, 'demo-embedding')).toMatchObject({ status: 400, code: 'unsupported_endpoint' });
    expect(await chat(stack.key, 'demo-chat', '/images/generations')).toMatchObject({
      status: 400,
      code: 'unsupported_endpoint',
    });
  });

  it.each([
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    ' demo-chat',
    'DEMO-CHAT',
    'demo-chat\n',
    '',
    'x'.repeat(100_000),
  ])('5 the name %j is no model', async (model) => {
    const answer = await chat(stack.key, model);
    expect([400, 404]).toContain(answer.status);
    expect(answer.param).toBe('model');
  });

  it('7 no channel left is 503 with Retry-After', async () => {
    await stack.rewrite(({ channels }) => {
      for (const name of ['simulated-openai', 'simulated-openai-spare'])
        channels.channels[name].cooldown = { failures: 1, first: '20s', longest: '20s' };
    });
    await stack.gateway.reload();
    const body = { model: 'resting-chat', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await stack.post('/chat/completions', body)).status).toBe(503);
    const response = await stack.post('/chat/completions', body);
    expect(response.status).toBe(503);
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe('no_channel_available');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
