/** What is refused before any channel is tried (spec 4.2, 4.3, 8): 400 with an error body, nothing asked, nothing charged. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { edit, expectAudit, expectError, formOf, generate, money, png, sendForm } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
/** After every single case: no vendor was asked and nothing is owed. */
afterEach(async () => {
  expect(stack.simulator.received).toHaveLength(0);
  expect((await stack.usage()).filter(({ quota, images }) => quota !== 0 || images !== 0)).toEqual([]);
  expect(await money(stack)).toEqual({ balance: 50_000_000, available: 50_000_000 });
});
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
});

const beta = 'beta-3-pro-image';
const flash = 'beta-3.1-flash-image';
const gamma = 'gamma-imagine-image';
const alpha = 'alpha-image-1k';

describe('conflicts', () => {
  it.each([
    [beta, { size: '2752x1536', aspect_ratio: '1:1' }, 'size'],
    [beta, { size: '2752x1536', resolution: '1K' }, 'size'],
    [beta, { size: '2752x1536', image_size: '4K' }, 'size'],
    [beta, { size: '1024x1024', aspect_ratio: '16:9', resolution: '1K' }, 'size'],
    [beta, { resolution: '2K', image_size: '1K' }, 'image_size'],
    [flash, { size: '1024x1536', aspect_ratio: '3:2' }, 'size'],
    [gamma, { size: '1024x1024', aspect_ratio: '16:9' }, 'size'],
    [gamma, { size: '2048x2048', resolution: '1k' }, 'size'],
    [gamma, { size: '1024x1024', resolution: '2k', aspect_ratio: '1:1' }, 'size'],
  ])('4.2(2) %s %j: a size that contradicts another field is 400', async (model, fields, param) => {
    await expectError(await generate(stack, { model, ...fields }), 400, 'conflicting_parameters', param);
    await expectError(await edit(stack, { model, ...fields }), 400, 'conflicting_parameters', param);
  });

  it('7 they are refused in a stream as well, with a status and no event', async () => {
    const response = await generate(stack, { model: beta, stream: true, size: '2752x1536', aspect_ratio: '1:1' });
    expect(response.headers.get('content-type')).toBe('application/json');
    await expectError(response, 400, 'conflicting_parameters', 'size');
  });
});

describe('values', () => {
  it.each([
    ['4.2(3)', beta, { n: 2 }, 'invalid_value', 'n'],
    ['4.2(3)', flash, { n: 10 }, 'invalid_value', 'n'],
    ['8', beta, { n: 0 }, 'invalid_value', 'n'],
    ['8', gamma, { n: 0 }, 'invalid_value', 'n'],
    ['8', gamma, { n: 11 }, 'invalid_value', 'n'],
    ['8', gamma, { n: -1 }, 'invalid_value', 'n'],
    ['2.1', gamma, { n: 1.5 }, 'invalid_type', 'n'],
    ['2.1', gamma, { n: '2' }, 'invalid_type', 'n'],
    ['2.1', gamma, { n: 1e99 }, 'invalid_type', 'n'],
    ['2.1', alpha, { n: 11 }, 'invalid_value', 'n'],
    ['2.7', gamma, { quality: 'high' }, 'unsupported_parameter', 'quality'],
    ['2.7', gamma, { quality: 'ultra' }, 'unsupported_parameter', 'quality'],
    ['2.7', gamma, { aspect_ratio: '7:3' }, 'invalid_value', 'aspect_ratio'],
    ['2.7', gamma, { aspect_ratio: '16x9' }, 'invalid_value', 'aspect_ratio'],
    ['2.7', gamma, { resolution: '4k' }, 'invalid_value', 'resolution'],
    ['2.7', gamma, { resolution: '2K' }, 'invalid_value', 'resolution'],
    ['2.7', gamma, { image_size: '2k' }, 'unsupported_parameter', 'image_size'],
    ['2.6', beta, { aspect_ratio: '7:3' }, 'invalid_value', 'aspect_ratio'],
    ['2.6', beta, { aspect_ratio: '1:8' }, 'invalid_value', 'aspect_ratio'],
    ['2.6', beta, { aspect_ratio: '4:1' }, 'invalid_value', 'aspect_ratio'],
    ['2.6', beta, { aspect_ratio: '' }, 'invalid_value', 'aspect_ratio'],
    ['2.6', beta, { resolution: '8K' }, 'invalid_value', 'resolution'],
    ['2.6', beta, { resolution: '2k' }, 'invalid_value', 'resolution'],
    ['2.6', beta, { image_size: '512' }, 'invalid_value', 'image_size'],
    ['2.6', beta, { size: '8192x1024' }, 'invalid_value', 'size'],
    ['2.1', beta, { size: '0x10' }, 'invalid_value', 'size'],
    ['2.1', beta, { size: '1024' }, 'invalid_value', 'size'],
    ['2.1', beta, { size: '1024x1024x2' }, 'invalid_value', 'size'],
    ['2.1', gamma, { size: '999999x2' }, 'invalid_value', 'size'],
    ['2.1', gamma, { size: '3000x10' }, 'invalid_value', 'size'],
    ['2.1', beta, { size: 1024 }, 'invalid_type', 'size'],
    ['2.1', alpha, { response_format: 'png' }, 'invalid_value', 'response_format'],
    ['2.1', beta, { response_format: 5 }, 'invalid_type', 'response_format'],
    ['2.1', gamma, { stream: 'yes' }, 'invalid_type', 'stream'],
    ['2.1', alpha, { stream: 1 }, 'invalid_type', 'stream'],
    ['2.1', alpha, { stream: true, partial_images: 4 }, 'invalid_value', 'partial_images'],
    ['2.1', alpha, { prompt: '' }, 'invalid_value', 'prompt'],
    ['2.1', alpha, { prompt: ' \n' }, 'invalid_value', 'prompt'],
    ['2.1', alpha, { prompt: null }, 'missing_required_parameter', 'prompt'],
    ['2.1', alpha, { prompt: ['a'] }, 'invalid_type', 'prompt'],
    ['2.1', 7, {}, 'invalid_type', 'model'],
    ['2.1', null, {}, 'missing_required_parameter', 'model'],
  ])('%s %s with %j is 400 %s, param %s', async (_clause, model, fields, code, param) => {
    await expectError(await generate(stack, { model, ...fields }), 400, code, param);
  });

  it('2.1 a value is quoted bounded and on one line', async () => {
    const error = await expectError(
      await generate(stack, { model: beta, aspect_ratio: `${'9'.repeat(5000)}\r\n:1` }),
      400,
      'invalid_value',
    );
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).not.toMatch(/[\r\n]/);
  });

  it('2.5 an unknown image model is 404, one that is no image model 400', async () => {
    await expectError(await generate(stack, { model: 'delta-image' }), 404, 'model_not_found');
    await expectError(await generate(stack, { model: 'demo-chat' }), 400, 'unsupported_endpoint', 'model');
    const sentence = await (await generate(stack, { model: 'demo-chat' })).text();
    expect(sentence).toContain('it serves: POST /v1/chat/completions');
    expect(sentence).not.toMatch(/GET|videos/);
    await expectError(await edit(stack, { model: 'demo-chat' }), 400, 'unsupported_endpoint', 'model');
  });

  it('7 a body that is no JSON object is 400, another content type 415', async () => {
    const send = (body: string | Buffer, type = 'application/json') =>
      fetch(`${stack.base}/images/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': type },
        body: new Uint8Array(Buffer.from(body)),
      });
    await expectError(await send('{"model":'), 400, 'invalid_json');
    await expectError(await send(''), 400, 'invalid_json');
    await expectError(await send('[1]'), 400, 'invalid_type');
    await expectError(await send('null'), 400, 'invalid_type');
    await expectError(await send(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 400, 'invalid_utf8');
    await expectError(await send('model=a', 'application/x-www-form-urlencoded'), 415, 'unsupported_content_type');
    await expectError(await send('{}', 'multipart/form-data; boundary=x'), 415, 'unsupported_content_type');
  });

  it.each([alpha, beta, gamma])('2.1 %s with a field nested a hundred thousand levels deep is 400', async (model) => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const response = await stack.post('/images/generations', `{"model":"${model}","prompt":"p","deep":${deep}}`);
    await expectError(response, 400, 'invalid_value', 'deep');
  });

  it('8 a request whose price the balance does not cover is refused before any channel', async () => {
    const poor = await startStack({ balance: 99_999 });
    try {
      await expectError(await generate(poor, { model: alpha }), 429, 'insufficient_quota');
      expect(poor.simulator.received).toHaveLength(0);
      await expectAudit(poor);
    } finally {
      await poor.close();
    }
  });
});

describe('edits', () => {
  it.each([
    [beta, 15],
    [flash, 15],
    [gamma, 6],
    [alpha, 17],
  ])('8 %s with %i reference images is 400', async (model, count) => {
    const files = Array.from({ length: count }, (_, index) => png(index));
    await expectError(await edit(stack, { model }, files), 400, 'too_many_images', 'image');
  });

  it.each([
    [beta, { n: '2' }, 'invalid_value', 'n'],
    [gamma, { n: '11' }, 'invalid_value', 'n'],
    [gamma, { n: 'two' }, 'invalid_type', 'n'],
    [gamma, { quality: 'high' }, 'unsupported_parameter', 'quality'],
    [gamma, { stream: 'yes' }, 'invalid_type', 'stream'],
    [alpha, { response_format: 'jpg' }, 'invalid_value', 'response_format'],
    [beta, { resolution: '1k' }, 'invalid_value', 'resolution'],
    [alpha, { prompt: '' }, 'invalid_value', 'prompt'],
  ])('2.2 %s with %j is 400 %s', async (model, fields, code, param) => {
    await expectError(await edit(stack, { model, ...fields }), 400, code, param);
  });

  it('4.3 an edit without an image is 400 missing_image', async () => {
    for (const model of [alpha, beta, gamma])
      await expectError(await edit(stack, { model }, []), 400, 'missing_image', 'image');
    const text = formOf({ model: alpha, prompt: 'p', image: 'not a file' });
    await expectError(await sendForm(stack, text), 400, 'missing_image', 'image');
    const other = formOf({ model: alpha, prompt: 'p' }, [{ field: 'picture', bytes: png() }]);
    await expectError(await sendForm(stack, other), 400, 'unsupported_parameter', 'picture');
    const maskOnly = formOf({ model: alpha, prompt: 'p' }, [{ field: 'mask', bytes: png() }]);
    await expectError(await sendForm(stack, maskOnly), 400, 'missing_image', 'image');
  });

  it.each([
    ['application/json', JSON.stringify({ model: alpha, prompt: 'p', image: 'data:image/png;base64,AAAA' })],
    ['application/json', '{"broken'],
    ['application/x-www-form-urlencoded', 'model=alpha-image-1k&prompt=p'],
    ['text/plain', 'hello'],
    ['image/png', 'PNG'],
  ])('4.3 an edit sent as %s is 400 missing_image', async (type, body) => {
    const response = await stack.post('/images/edits', body, { 'content-type': type });
    await expectError(response, 400, 'missing_image');
  });

  it('2.2 an empty file, a file that is no image, a field sent twice, two masks', async () => {
    const send = (files: Parameters<typeof formOf>[1], fields = {}) =>
      sendForm(stack, formOf({ model: alpha, prompt: 'p', ...fields }, files));
    await expectError(await send([{ field: 'image', bytes: Buffer.alloc(0) }]), 400, 'invalid_value', 'image');
    const words = { field: 'image', bytes: Buffer.from('words'), type: 'text/plain' };
    await expectError(await send([words]), 400, 'invalid_value', 'image');
    const mask = { field: 'mask', bytes: png() };
    await expectError(await send([{ field: 'image', bytes: png() }, mask, mask]), 400, 'invalid_value', 'mask');
    const twice = formOf({ model: alpha, prompt: 'p' }, [{ field: 'image', bytes: png() }]);
    twice.append('prompt', 'again');
    await expectError(await sendForm(stack, twice), 400, 'invalid_value', 'prompt');
  });

  it('4.3 a mask where the vendor knows none is 400, not dropped', async () => {
    for (const model of [beta, gamma]) {
      const form = formOf({ model, prompt: 'p' }, [
        { field: 'image', bytes: png() },
        { field: 'mask', bytes: png() },
      ]);
      await expectError(await sendForm(stack, form), 400, 'unsupported_parameter', 'mask');
    }
  });

  it('5 without a key no upload is looked at: 401', async () => {
    const response = await fetch(`${stack.base}/images/edits`, { method: 'POST', body: formOf({ model: alpha }) });
    await expectError(response, 401, 'missing_api_key');
  });
});
