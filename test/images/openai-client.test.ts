import { describe, expect, it } from 'vitest';
import {
  type DeliveredImage,
  GatewayError,
  type ImageBody,
  type ImageResult,
  type JsonObject,
} from '../../engine/plugin.ts';
import protocol from '../../plugins/protocols/openai-images.ts';
import { imageCall, jsonOf, png, refusal, textOf } from './support.ts';

const client = protocol.client!;
const generate = (value: JsonObject) => client.readCall('generate', { kind: 'json', value });
const minimal = { model: 'alpha-image-1k', prompt: 'A fox' };

type Multipart = Extract<ImageBody, { kind: 'multipart' }>;
const form = (fields: Record<string, string>, files: Multipart['files'] = [file()]): Multipart => ({
  kind: 'multipart',
  fields: Object.entries({ ...minimal, ...fields }),
  files,
});
const file = (field = 'image', bytes = png(), mediaType = 'application/octet-stream') => ({
  field,
  bytes,
  mediaType,
  name: 'fox.png',
});
const edit = (fields: Record<string, string>, files?: Multipart['files']) =>
  client.readCall('edit', files ? form(fields, files) : form(fields));

describe('reading a generation', () => {
  it('2.1 takes every field, and null as absent', () => {
    const fields = { n: 2, size: '1x1', aspect_ratio: '1:1', resolution: '1K', image_size: '2K', quality: 'high' };
    const call = generate({ ...minimal, ...fields, response_format: 'b64_json', stream: true, partial_images: 3 });
    expect(call).toMatchObject({ fields, responseFormat: 'b64_json', stream: true, partialImages: 3, extra: {} });
    expect(call.settings).toEqual({ n: 2, size: '1x1', quality: 'high', aspectRatio: '1:1', resolution: '1K' });
    const nulls = generate({ ...minimal, n: null, size: null, response_format: null, stream: null });
    expect(nulls).toMatchObject({ fields: { n: null, size: null }, responseFormat: 'url', stream: false });
  });

  it('2.1 response_format is url and stream is false by default', () => {
    expect(generate(minimal)).toMatchObject({ responseFormat: 'url', stream: false, references: [], mask: null });
  });

  it('keeps fields that nobody here knows, whatever their names', () => {
    const value = JSON.parse('{"model":"m","prompt":"p","background":"opaque","__proto__":{"a":1},"constructor":2}');
    const { extra } = generate(value);
    expect(Object.entries(extra)).toEqual([
      ['background', 'opaque'],
      ['__proto__', { a: 1 }],
      ['constructor', 2],
    ]);
    expect(Object.getPrototypeOf(extra)).toBe(Object.prototype);
  });

  it.each<[string, JsonObject, string]>([
    ['n as text', { n: '2' }, 'n'],
    ['n as a fraction', { n: 1.5 }, 'n'],
    ['size as a number', { size: 1024 }, 'size'],
    ['stream as text', { stream: 'true' }, 'stream'],
    ['prompt as a list', { prompt: ['A fox'] }, 'prompt'],
    ['quality as an object', { quality: {} }, 'quality'],
    ['partial_images as true', { partial_images: true }, 'partial_images'],
    ['model as a number', { model: 1 }, 'model'],
  ])('2.1 %s is a wrong type', (_, wrong, param) => {
    expect(refusal(() => generate({ ...minimal, ...wrong }))).toMatchObject({
      code: 'invalid_type',
      status: 400,
      param,
    });
  });

  it.each<[string, JsonObject, string, string]>([
    ['no prompt', { prompt: null }, 'missing_required_parameter', 'prompt'],
    ['no model', { model: null }, 'missing_required_parameter', 'model'],
    ['an empty prompt', { prompt: ' \n' }, 'invalid_value', 'prompt'],
    ['n of zero', { n: 0 }, 'invalid_value', 'n'],
    ['a response_format that is none', { response_format: 'png' }, 'invalid_value', 'response_format'],
    ['too many partial images', { partial_images: 4 }, 'invalid_value', 'partial_images'],
  ])('2.1 %s is refused', (_, wrong, code, param) => {
    expect(refusal(() => generate({ ...minimal, ...wrong }))).toMatchObject({ code, status: 400, param });
  });

  it('4.2 a multipart body is not a generation', () => {
    expect(refusal(() => client.readCall('generate', form({})))).toMatchObject({
      code: 'unsupported_content_type',
      status: 415,
    });
  });
});

describe('reading an edit', () => {
  it('2.2 takes scalars as text', () => {
    const call = edit({
      n: '2',
      stream: 'true',
      partial_images: '1',
      response_format: 'b64_json',
      aspect_ratio: '1:1',
    });
    expect(call).toMatchObject({ operation: 'edit', stream: true, partialImages: 1, responseFormat: 'b64_json' });
    expect(call.fields).toMatchObject({ n: 2, aspect_ratio: '1:1', size: null });
  });

  it.each<[string, string]>([
    ['n', '2.0'],
    ['n', ''],
    ['n', '1e3'],
    ['n', ' 2'],
    ['n', '99999999999999999999'],
    ['stream', '1'],
    ['stream', 'True'],
    ['partial_images', 'two'],
  ])('2.2 %s of “%s” is a wrong type', (param, value) => {
    expect(refusal(() => edit({ [param]: value }))).toMatchObject({ code: 'invalid_type', param });
  });

  it('2.2 image may be repeated, and be a list as official clients write it', () => {
    const { references } = edit(
      {},
      ['image', 'image', 'image[]', 'image[0]', 'image[12]'].map((name) => file(name)),
    );
    expect(references).toHaveLength(5);
  });

  it('the type of a file is what its bytes say', () => {
    const { references, mask } = edit({}, [file('image', png(), 'image/jpeg'), file('mask')]);
    expect([references[0]!.mediaType, mask!.mediaType]).toEqual(['image/png', 'image/png']);
    expect(edit({}, [file('image', Buffer.from('heic'), 'image/heic')]).references[0]!.mediaType).toBe('image/heic');
  });

  it.each<[string, () => unknown]>([
    ['without an image field', () => edit({}, [])],
    ['with only a mask', () => edit({}, [file('mask')])],
    ['with a text in place of the image', () => edit({ image: 'fox.png' }, [])],
    ['sent as JSON', () => client.readCall('edit', { kind: 'json', value: { ...minimal, image: 'data:' } })],
  ])('4.3 an edit %s is rejected as missing image', (_, run) => {
    expect(refusal(run)).toMatchObject({ code: 'missing_image', status: 400, param: 'image' });
  });

  it.each<[string, () => unknown, string]>([
    ['a text beside the image in its field', () => edit({ 'image[]': 'x' }), 'missing_image'],
    ['a mask as text', () => edit({ mask: 'x' }), 'invalid_type'],
    ['two masks', () => edit({}, [file(), file('mask'), file('mask')]), 'invalid_value'],
    ['a file in an unknown field', () => edit({}, [file(), file('"\r\nx: y')]), 'unsupported_parameter'],
    ['a file that is no image', () => edit({}, [file('image', Buffer.from('#!/bin/sh'))]), 'invalid_value'],
    [
      'a file with a hostile type',
      () => edit({}, [file('image', Buffer.from('x'), 'image/x\r\na: b')]),
      'invalid_value',
    ],
    ['an empty file', () => edit({}, [file('image', Buffer.alloc(0), 'image/png')]), 'invalid_value'],
    [
      'two models',
      () =>
        client.readCall('edit', {
          ...form({}),
          fields: [
            ['model', 'a'],
            ['model', 'b'],
            ['prompt', 'p'],
          ],
        }),
      'invalid_value',
    ],
  ])('%s is refused', (_, run, code) => {
    expect(refusal(run).code).toBe(code);
  });

  it('keeps unknown fields, repeated ones as a list', () => {
    const body = form({ user: 'u' });
    const fields = [
      ...body.fields,
      ['tag', 'a'],
      ['tag', 'b'],
      ['tag', 'c'],
      ['__proto__', 'x'],
    ] as Multipart['fields'];
    const { extra } = client.readCall('edit', { ...body, fields });
    expect(Object.entries(extra)).toEqual([
      ['user', 'u'],
      ['tag', ['a', 'b', 'c']],
      ['__proto__', 'x'],
    ]);
  });
});

const result: ImageResult = { created: 1_790_000_000, images: [], usage: null, extra: {}, refused: 0 };
const delivered = (more: Partial<DeliveredImage>): DeliveredImage => ({
  url: null,
  base64: null,
  mediaType: 'image/jpeg',
  width: 48,
  height: 32,
  revisedPrompt: null,
  ...more,
});
const linked = delivered({ url: 'http://gateway.test/files/"a"?signature=1&x' });
const inline = delivered({ base64: Buffer.from('/9j/4AAQ') });
const tokens = { input: 14, cachedInput: 0, cacheWrite: 0, output: 1100, reasoning: 0 };

describe('writing an answer', () => {
  it('2.3 created, and data with url only', () => {
    expect(jsonOf(client.encodeResult([linked, linked], result, imageCall()))).toEqual({
      created: 1_790_000_000,
      size: '48x32',
      output_format: 'jpeg',
      data: [{ url: linked.url }, { url: linked.url }],
    });
  });

  it('2.3 data with b64_json only, whose bytes are a piece of their own', () => {
    const pieces = client.encodeResult([inline, inline], result, imageCall());
    expect(pieces).toContain(inline.base64);
    expect(jsonOf(pieces).data).toEqual([{ b64_json: '/9j/4AAQ' }, { b64_json: '/9j/4AAQ' }]);
  });

  it('2.3 created is the time of the answer in seconds where the vendor named none', () => {
    const { created } = jsonOf(client.encodeResult([linked], { ...result, created: null }, imageCall()));
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(5);
  });

  it('hands on what the vendor said of the images, with the real size and format', () => {
    const extra = { size: 'auto', quality: 'high', background: 'opaque', output_format: 'png' };
    const answer = jsonOf(
      client.encodeResult(
        [{ ...inline, revisedPrompt: 'A "red" fox' }],
        { ...result, extra, usage: tokens },
        imageCall(),
      ),
    );
    expect(answer).toMatchObject({ size: '48x32', quality: 'high', background: 'opaque', output_format: 'jpeg' });
    expect(answer.usage).toEqual({
      total_tokens: 1114,
      input_tokens: 14,
      output_tokens: 1100,
      input_tokens_details: { text_tokens: 14, image_tokens: 0 },
    });
    expect(answer.data).toEqual([{ revised_prompt: 'A "red" fox', b64_json: '/9j/4AAQ' }]);
  });
});

/** One event as an SSE client reads it. */
function readEvent(text: string) {
  const match = /^event: (\S+)\ndata: (.*)\n\n$/.exec(text)!;
  return { event: match[1], data: JSON.parse(match[2]!) };
}

describe('writing events', () => {
  it.each([
    ['generate', 'image_generation.completed'],
    ['edit', 'image_edit.completed'],
  ] as const)('2.4 6.1 %s ends with %s, carrying url and every field of the official event', (operation, type) => {
    const event = { type: 'completed', image: linked, usage: null, extra: {} } as const;
    const { event: name, data } = readEvent(textOf(client.encodeEvent(event, imageCall({}, { operation }))));
    expect(name).toBe(type);
    expect(data).toMatchObject({
      type,
      url: linked.url,
      size: '48x32',
      quality: 'auto',
      background: 'opaque',
      output_format: 'jpeg',
    });
    expect(data.usage).toMatchObject({ total_tokens: 0, input_tokens: 0, output_tokens: 0 });
    expect(Number.isInteger(data.created_at)).toBe(true);
    expect(data).not.toHaveProperty('b64_json');
    expect(data).not.toHaveProperty('data');
  });

  it('2.4 b64_json replaces url', () => {
    const event = { type: 'completed', image: inline, usage: tokens, extra: { quality: 'high' } } as const;
    const { data } = readEvent(textOf(client.encodeEvent(event, imageCall())));
    expect(data).toMatchObject({ b64_json: '/9j/4AAQ', quality: 'high', usage: { output_tokens: 1100 } });
    expect(data).not.toHaveProperty('url');
  });

  it('6.1 a preview is a partial_image with its index', () => {
    const extra = { size: '1024x1024', output_format: 'png', created_at: 7 };
    const event = { type: 'partial', base64: Buffer.from('AAA='), index: 1, extra } as const;
    const { event: name, data } = readEvent(textOf(client.encodeEvent(event, imageCall())));
    expect(name).toBe('image_generation.partial_image');
    expect(data).toEqual({
      type: 'image_generation.partial_image',
      b64_json: 'AAA=',
      created_at: 7,
      size: '1024x1024',
      quality: 'auto',
      background: 'opaque',
      output_format: 'png',
      partial_image_index: 1,
    });
  });

  it('6.1 the stream ends with [DONE]', () => expect(client.terminator).toBe('data: [DONE]\n\n'));
});

describe('writing errors', () => {
  const error = new GatewayError('moderation_blocked', 'Refused.', { param: 'prompt' });
  const body = {
    message: 'Refused. (request id: req_7)',
    type: 'image_generation_user_error',
    param: 'prompt',
    code: 'moderation_blocked',
  };

  it('7 an error is OpenAI’s object and names the request', () => {
    expect(client.encodeError(error, 'req_7')).toEqual({ error: body });
  });

  it('7 an error within a stream is an event of its own', () => {
    expect(readEvent(client.encodeStreamError(error, 'req_7'))).toEqual({
      event: 'error',
      data: { type: 'error', error: body },
    });
  });
});
