/** The native route as its clients know it: keys, errors, names in the path, counts, the model list. */
import { ApiError } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordingLog } from '../e2e/chat-support.ts';
import type { Stack } from '../kit/stack.ts';
import { clientOf, lastRow, postNative, startShop } from './kit.ts';

const { log, entries } = recordingLog();
let stack: Stack;
beforeAll(async () => {
  stack = await startShop('', {
    log,
    edit({ gateway, models, channels }) {
      gateway.log = { ...gateway.log, requests: true };
      models.models['vendor/line:free'] = { family: 'chat', price: { input: '1', output: '1' } };
      channels.channels['simulated-gemini'].models['vendor/line:free'] = 'gemini-3.6-flash';
    },
  });
});
afterAll(() => stack.close());

const hello = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

interface GoogleError {
  readonly code: number;
  readonly message: string;
  readonly status: string;
  readonly details: readonly Record<string, unknown>[];
}
const errorOf = async (response: Response): Promise<GoogleError> =>
  ((await response.json()) as { error: GoogleError }).error;

describe('5 the key', () => {
  const native = (query: string, headers: Record<string, string>) =>
    fetch(`${stack.gateway.url}/v1beta/models/demo-gemini:generateContent${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(hello),
    });

  it('5 comes in x-goog-api-key, in ?key= or as Bearer', async () => {
    expect((await native('', { 'x-goog-api-key': stack.key })).status).toBe(200);
    expect((await native(`?key=${stack.key}`, {})).status).toBe(200);
    expect((await native('', { authorization: `Bearer ${stack.key}` })).status).toBe(200);
  });

  it.each([
    ['missing', {}, 'missing_api_key'],
    ['malformed', { 'x-goog-api-key': 'AIzaSomething' }, 'malformed_api_key'],
    ['unknown', { 'x-goog-api-key': `sk-${'x'.repeat(48)}` }, 'invalid_api_key'],
  ])('5 that is %s gets a 401 in Google’s form', async (_kind, headers, code) => {
    const response = await native('', headers);
    expect(response.status).toBe(401);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' });
    expect(error.message).toContain(`(request id: ${response.headers.get('x-request-id')})`);
    expect(error.details).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { code, requestId: response.headers.get('x-request-id') },
    });
  });

  it('5 never reaches a log, nor the vendor', async () => {
    const bad = `sk-${'y'.repeat(48)}`;
    for (const path of [
      'demo-gemini:generateContent',
      'nobody:generateContent',
      'demo-gemini:nothing',
      'demo-gemini',
    ]) {
      for (const key of [stack.key, bad]) {
        const url = `${stack.gateway.url}/v1beta/models/${path}?key=${key}`;
        await (await fetch(url, { method: 'POST', body: JSON.stringify(hello) })).text();
        await (await fetch(url)).text();
      }
    }
    stack.simulator.faults.add({ match: { vendor: 'gemini', times: 1 }, fault: { status: 500 } });
    await (await native(`?key=${stack.key}`, {})).text();
    expect(entries.length).toBeGreaterThan(5);
    const shown = JSON.stringify([entries, stack.simulator.received, await stack.usage()]);
    for (const key of [stack.key, bad]) expect(shown).not.toContain(key);
    stack.simulator.faults.clear();
  });
});

describe('7 errors before the first byte', () => {
  const failing = (action: string, body: unknown) => postNative(stack, action, body);

  it.each([
    ['an unknown model', 'nobody:generateContent', hello, 404, 'NOT_FOUND', 'model_not_found'],
    ['no contents', 'demo-gemini:generateContent', {}, 400, 'INVALID_ARGUMENT', 'missing_required_parameter'],
    ['empty contents', 'demo-gemini:generateContent', { contents: [] }, 400, 'INVALID_ARGUMENT', 'invalid_value'],
    [
      'contents that are none',
      'demo-gemini:generateContent',
      { contents: 'Hi' },
      400,
      'INVALID_ARGUMENT',
      'invalid_type',
    ],
    [
      'a bound of no tokens',
      'demo-gemini:streamGenerateContent?alt=sse',
      { ...hello, generationConfig: { maxOutputTokens: 0 } },
      400,
      'INVALID_ARGUMENT',
      'invalid_value',
    ],
  ])('7 %s', async (_what, action, body, status, word, code) => {
    const response = await failing(action, body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: status, status: word });
    expect(error.details[0]).toMatchObject({ reason: code.toUpperCase(), metadata: { code } });
  });

  it('7 what a vendor refuses names the field, as Google’s SDK shows it', async () => {
    const ask = clientOf(stack).models.generateContent({
      model: 'demo-gemini',
      contents: 'Hi',
      config: { temperature: 9 },
    });
    const error = await ask.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400 });
    expect((error as ApiError).message).toContain('generation_config.temperature');
  });

  it('7 a vendor that limits the rate: 429 with the time to wait', async () => {
    stack.simulator.faults.add({ match: { vendor: 'gemini' }, fault: { status: 429, retryAfter: 7 } });
    const response = await postNative(stack, 'shop-gemini-generate:generateContent', hello);
    stack.simulator.faults.clear();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    const error = await errorOf(response);
    expect(error.status).toBe('RESOURCE_EXHAUSTED');
    expect(error.details.at(-1)).toEqual({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' });
  });
});

describe('9 the path', () => {
  it.each(['vendor/line:free', 'vendor%2Fline%3Afree', 'vendor/line%3Afree'])('9 names the model: %s', async (name) => {
    for (const verb of ['generateContent', 'streamGenerateContent', 'countTokens'])
      expect((await postNative(stack, `${name}:${verb}`, hello)).status).toBe(200);
    expect(await lastRow(stack)).toMatchObject({ model: 'vendor/line:free' });
  });

  it('9 snake case and lone values are read as Google reads them', async () => {
    const body = {
      system_instruction: { parts: { text: 'Short.' } },
      contents: { parts: { text: 'Snake' } },
      generation_config: { max_output_tokens: 3, stop_sequences: 'END' },
    };
    for (const model of ['demo-gemini', 'shop-openai-chat']) {
      const reply = await postNative(stack, `${model}:generateContent`, body);
      expect(reply.status).toBe(200);
      expect(await reply.json()).toMatchObject({ candidates: [{ finishReason: 'MAX_TOKENS' }] });
    }
    expect(stack.simulator.received.at(-1)!.body).toMatchObject({ max_completion_tokens: 3, stop: ['END'] });
  });
});

describe('4.1 :countTokens', () => {
  const count = async (model: string, body: unknown) => {
    const response = await postNative(stack, `${model}:countTokens`, body);
    expect(response.status).toBe(200);
    return ((await response.json()) as { totalTokens: number }).totalTokens;
  };

  it('4.1 counts contents or a whole request, for no charge', async () => {
    const before = (await stack.usage()).reduce((sum, { quota }) => sum + quota, 0);
    const alone = await count('demo-gemini', hello);
    const request = {
      model: 'models/demo-gemini',
      systemInstruction: { parts: [{ text: 'Be brief, please.' }] },
      ...hello,
    };
    expect(await count('demo-gemini', { generateContentRequest: request })).toBeGreaterThan(alone);
    expect(await count('shop-anthropic-messages', { generateContentRequest: request })).toBeGreaterThan(3);
    expect((await stack.usage()).reduce((sum, { quota }) => sum + quota, 0)).toBe(before);
  });
});

describe('4.5 the model list in Gemini’s form', () => {
  it('4.5 as the SDK reads it, page by page', async () => {
    const { models } = clientOf(stack);
    const names: string[] = [];
    for await (const model of await models.list({ config: { pageSize: 3 } })) names.push(model.name!);
    expect(names).toContain('models/demo-gemini');
    expect(names).toContain('models/vendor/line:free');
    expect(new Set(names).size).toBe(names.length);
    const chat = await models.get({ model: 'demo-gemini' });
    expect(chat).toMatchObject({
      name: 'models/demo-gemini',
      outputTokenLimit: 65_536,
      supportedActions: ['generateContent', 'countTokens'],
    });
    const drawing = await models.get({ model: 'models/beta-3-pro-image' });
    expect(drawing.supportedActions).toEqual(['generateContent']);
  });

  it('4.5 pages end, and a page size that is none is refused', async () => {
    const get = (path: string) => fetch(`${stack.gateway.url}${path}`, { headers: { 'x-goog-api-key': stack.key } });
    const all = (await (await get('/v1beta/models?pageSize=1000')).json()) as {
      models: unknown[];
      nextPageToken?: string;
    };
    expect(all.nextPageToken).toBeUndefined();
    const one = (await (await get('/v1beta/models?pageSize=1')).json()) as typeof all;
    expect(one).toMatchObject({ models: [all.models[0]], nextPageToken: '1' });
    const wrong = await get('/v1beta/models?pageSize=many');
    expect(wrong.status).toBe(400);
    expect(await errorOf(wrong)).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    const unknown = await get('/v1beta/models/nobody');
    expect(unknown.status).toBe(404);
    expect(await errorOf(unknown)).toMatchObject({ code: 404, status: 'NOT_FOUND' });
  });

  it('4.5 /v1/models answers it to Google’s keys, and OpenAI’s form to others', async () => {
    const list = async (query: string, headers: Record<string, string>) =>
      (await (await fetch(`${stack.base}/models${query}`, { headers })).json()) as object;
    expect(await list('', { 'x-goog-api-key': stack.key })).toHaveProperty('models');
    expect(await list(`?key=${stack.key}`, {})).toHaveProperty('models');
    expect(await list('', { authorization: `Bearer ${stack.key}` })).toHaveProperty('data');
  });

  it('5 a bad key is told in Google’s form', async () => {
    const response = await fetch(`${stack.gateway.url}/v1beta/models?key=nonsense`);
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' });
  });
});
