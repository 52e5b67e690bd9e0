/** Answers without an image and money (spec 4.3, 7, 8): refusals that arrive as 200 are errors; only delivered images are charged. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  answerJson,
  edit,
  expectAudit,
  expectError,
  type FakeVendor,
  generate,
  type Handler,
  jsonOf,
  money,
  onlyChannel,
  png,
  startVendor,
  stored,
} from './images-kit.ts';

let stack: Stack;
let vendor: FakeVendor;
let handler: Handler;

beforeAll(async () => {
  vendor = await startVendor((request, response, body) => handler(request, response, body));
  stack = await startStack({
    edit(documents) {
      documents.models.models['alpha-odd'] = documents.models.models['alpha-image-1k'];
      documents.models.models['beta-odd'] = documents.models.models['beta-3-pro-image'];
      documents.models.models['gamma-odd'] = documents.models.models['gamma-imagine-image'];
      const odd = (kind: string, name: string, model: string) =>
        onlyChannel(documents, `odd-${kind}`, {
          vendor: name,
          baseUrl: `${vendor.url}/${name}`,
          models: { [`${kind}-odd`]: model },
          cooldown: { failures: 1000, first: '1s', longest: '1s' },
        });
      odd('alpha', 'openai', 'gpt-image-2');
      odd('beta', 'gemini', 'gemini-3-pro-image');
      odd('gamma', 'xai', 'grok-imagine-image');
      for (const channel of Object.values<Record<string, unknown>>(documents.channels.channels))
        channel.cooldown = { failures: 1000, first: '1s', longest: '1s' };
    },
  });
});
afterEach(() => stack.simulator.reset());
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
  await vendor.close();
});

const latest = async () => (await stack.usage())[0]!;

/** Runs a request that must fail and must cost nothing. */
async function refused(request: () => Promise<Response>, status: number, code: string) {
  const before = await money(stack);
  const error = await expectError(await request(), status, code);
  expect(await money(stack)).toEqual(before);
  expect(await latest()).toMatchObject({ images: 0, quota: 0, outcome: 'error', status, code });
  return error;
}

describe('refusals that arrive as 200', () => {
  it.each([
    ['beta-3-pro-image', 'safety', 400, 'moderation_blocked'],
    ['beta-3-pro-image', 'prompt', 400, 'moderation_blocked'],
    ['beta-3-pro-image', 'noimage', 502, 'upstream_no_image'],
    ['gamma-imagine-image', 'safety', 400, 'moderation_blocked'],
    ['gamma-imagine-image', 'prompt', 400, 'moderation_blocked'],
    ['gamma-imagine-image', 'noimage', 400, 'moderation_blocked'],
    ['alpha-image-1k', 'safety', 400, 'moderation_blocked'],
    ['alpha-image-1k', 'noimage', 502, 'upstream_no_image'],
  ] as const)('4.3 %s, %s: an explicit error, not charged (7)', async (model, refuse, status, code) => {
    stack.simulator.faults.add({ fault: { refuse } });
    const error = await refused(() => generate(stack, { model }), status, code);
    if (code === 'moderation_blocked') expect(error.type).toBe('image_generation_user_error');
    await refused(() => edit(stack, { model, response_format: 'b64_json' }), status, code);
  });

  it('7 what the model said in place of an image stands in the message', async () => {
    stack.simulator.faults.add({ fault: { refuse: 'noimage' } });
    const error = await refused(() => generate(stack, { model: 'beta-3-pro-image' }), 502, 'upstream_no_image');
    expect(error.message).toContain('I can only describe this');
  });

  it.each([
    ['error200', 502],
    ['empty200', 502],
    ['wrongtype', 502],
  ])('7 %s is 502 and not charged', async (fault, status) => {
    stack.simulator.faults.add({ fault: { [fault]: true } });
    for (const model of ['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'])
      await refused(() => generate(stack, { model }), status, 'upstream_invalid_response');
  });

  it.each<[string, string, unknown]>([
    ['alpha', 'no data', { created: 1 }],
    ['alpha', 'data that is no list', { created: 1, data: 'x' }],
    ['alpha', 'items without an image', { created: 1, data: [{}, null, 5] }],
    ['alpha', 'an empty image', { created: 1, data: [{ b64_json: '' }] }],
    ['beta', 'no candidates', { usageMetadata: {} }],
    ['beta', 'a candidate without content', { candidates: [{ finishReason: 'STOP' }] }],
    ['beta', 'only text', { candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'no' }] } }] }],
    [
      'beta',
      'only a thought',
      {
        candidates: [
          {
            finishReason: 'STOP',
            content: { parts: [{ thought: true, inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
          },
        ],
      },
    ],
    ['beta', 'IMAGE_OTHER', { candidates: [{ finishReason: 'IMAGE_OTHER' }] }],
    ['gamma', 'an empty list', { data: [] }],
    ['gamma', 'no list', { usage: {} }],
  ])('4.3 %s answering %s is 502 upstream_no_image', async (kind, _name, value) => {
    handler = (_request, response) => answerJson(response, value);
    await refused(() => generate(stack, { model: `${kind}-odd` }), 502, 'upstream_no_image');
  });

  it.each([
    'SAFETY',
    'IMAGE_SAFETY',
    'PROHIBITED_CONTENT',
    'IMAGE_PROHIBITED_CONTENT',
    'RECITATION',
    'IMAGE_RECITATION',
    'BLOCKLIST',
    'SPII',
  ])('4.3 beta with the finish reason %s is 400 moderation_blocked', async (finishReason) => {
    handler = (_request, response) => answerJson(response, { candidates: [{ finishReason }] });
    await refused(() => generate(stack, { model: 'beta-odd' }), 400, 'moderation_blocked');
  });

  it.each<[string, unknown]>([
    ['a text', { data: [{ b64_json: Buffer.from('hello').toString('base64') }] }],
    ['no Base64', { data: [{ b64_json: '!!!!' }] }],
    ['half of a PNG head', { data: [{ b64_json: png().subarray(0, 12).toString('base64') }] }],
    ['a string that ends the JSON', { data: [{ b64_json: `${png().toString('base64')}"}]` }] }],
    ['no JSON at all', '<html>'],
    ['a list', []],
    ['null', null],
  ])('2.3 gamma answering %s is 502, for url and b64_json', async (_name, value) => {
    handler = (_request, response) => answerJson(response, value);
    for (const response_format of ['url', 'b64_json'])
      await refused(() => generate(stack, { model: 'gamma-odd', response_format }), 502, 'upstream_invalid_response');
  });

  it('4.3 a gamma edit without permission is an explicit error', async () => {
    stack.simulator.faults.add({ fault: { status: 403 } });
    const error = await refused(() => edit(stack, { model: 'gamma-imagine-image' }), 403, 'vendor_refused_request');
    expect(error.message).toContain('permission');
    expect(stack.simulator.received).toHaveLength(1);
  });

  it('4.3 a gamma edit with a parameter xAI does not support is an explicit error, in the code that xAI gave', async () => {
    handler = (_request, response) =>
      answerJson(response, { error: { message: 'Argument not supported: quality', code: 'unknown_argument' } }, 400);
    const error = await expectError(await edit(stack, { model: 'gamma-odd' }), 400, 'unknown_argument');
    expect(error.message).toContain('Argument not supported: quality');
    expect(await latest()).toMatchObject({ images: 0, quota: 0 });
  });
});

describe('8 the price', () => {
  const charge = async (model: string, more: object, secret = stack.key) => {
    const response = await generate(stack, { model, ...more }, { authorization: `Bearer ${secret}` });
    expect(response.status).toBe(200);
    await response.text();
    return latest();
  };

  it.each([
    ['alpha-image-1k', 1, 100_000],
    ['alpha-image-2k', 1, 100_000],
    ['alpha-image-4k', 1, 200_000],
    ['alpha-image-1k', 2, 200_000],
    ['beta-3-pro-image', 1, 75_000],
    ['beta-3.1-flash-image', 1, 40_000],
    ['gamma-imagine-image', 10, 250_000],
  ])('8 %s with n=%i is %i units: price x multiplier x 500000 x n', async (model, n, quota) => {
    const before = await money(stack);
    const row = await charge(model, { n });
    expect(row).toMatchObject({
      model,
      group: 'default',
      multiplier: '1',
      images: n,
      quota,
      endpoint: '/v1/images/generations',
      outcome: 'ok',
      status: 200,
      code: null,
      usageSource: 'measured',
      attempts: 1,
    });
    expect((await money(stack)).balance).toBe(before.balance - quota);
  });

  it('8 the multiplier of the group: vip pays 0.8', async () => {
    const vip = await stack.createKey({ group: 'vip' });
    expect(await charge('alpha-image-1k', { n: 2 }, vip)).toMatchObject({
      group: 'vip',
      multiplier: '0.8',
      images: 2,
      quota: 160_000,
    });
  });

  it('8 size, quality and resolution do not change the price', async () => {
    expect(await charge('beta-3-pro-image', { resolution: '4K', quality: 'high' })).toMatchObject({ quota: 75_000 });
    expect(await charge('alpha-image-1k', { size: '3840x2160', quality: 'low' })).toMatchObject({ quota: 100_000 });
  });

  it('8 a partial refusal is charged for the delivered images only', async () => {
    stack.simulator.faults.add({ fault: { refuse: 'some' } });
    const reply = await jsonOf(await generate(stack, { model: 'gamma-imagine-image', n: 3 }));
    expect(reply.data).toHaveLength(2);
    for (const { url } of reply.data) await stored(stack, url);
    expect(await latest()).toMatchObject({ images: 2, quota: 50_000, outcome: 'ok' });
  });

  it('8 fewer images than asked are charged as they came, more are cut off', async () => {
    const item = { b64_json: png().toString('base64') };
    handler = (_request, response) => answerJson(response, { data: [item] });
    expect((await jsonOf(await generate(stack, { model: 'gamma-odd', n: 4 }))).data).toHaveLength(1);
    expect(await latest()).toMatchObject({ images: 1, quota: 25_000 });
    handler = (_request, response) => answerJson(response, { data: Array(9).fill(item) });
    expect((await jsonOf(await generate(stack, { model: 'gamma-odd', n: 2 }))).data).toHaveLength(2);
    expect(await latest()).toMatchObject({ images: 2, quota: 50_000 });
  });

  it('8 while a request runs its price is held, afterwards it is not', async () => {
    const before = await money(stack);
    stack.simulator.faults.add({ fault: { latency: 300, status: 400 } });
    const running = generate(stack, { model: 'alpha-image-1k', n: 3 });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await money(stack)).toEqual({ balance: before.balance, available: before.available - 300_000 });
    expect((await running).status).toBe(400);
    expect(await money(stack)).toEqual(before);
  });

  it('8 a key quota that is used up refuses, an exact one does not', async () => {
    const exact = await stack.createKey({ quota: 100_000 });
    await charge('alpha-image-1k', {}, exact);
    const response = await generate(stack, { model: 'alpha-image-1k' }, { authorization: `Bearer ${exact}` });
    await expectError(response, 429, 'insufficient_quota');
  });
});
