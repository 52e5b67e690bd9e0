import { describe, expect, it } from 'vitest';
import type { ImageCall } from '../../engine/plugin.ts';
import protocol from '../../plugins/protocols/xai-images.ts';
import { imageCall, jsonOf, png, pngFile, refusal } from './support.ts';

const vendor = protocol.vendor!;
const settings = { n: 2, size: null, quality: 'low', aspectRatio: '16:9', resolution: '2k' };
const encode = (call: Partial<ImageCall>) =>
  vendor.encodeRequest(imageCall({}, { settings, ...call }), 'grok-imagine-image');
const reply = (value: unknown) => vendor.decodeReply(Buffer.from(JSON.stringify(value)));
const big = '/9jA'.repeat(2000);
const source = { url: `data:image/png;base64,${png().toString('base64')}`, type: 'image_url' };

describe('a request', () => {
  it('2.7 is JSON without stream and size, and always asks for Base64', () => {
    const { contentType, pieces } = encode({ stream: true, partialImages: 1, extra: { user: 'u', moderation: 'low' } });
    expect(contentType).toBe('application/json');
    expect(jsonOf(pieces)).toEqual({
      model: 'grok-imagine-image',
      prompt: 'A fox in fog',
      n: 2,
      aspect_ratio: '16:9',
      resolution: '2k',
      quality: 'low',
      user: 'u',
      response_format: 'b64_json',
    });
  });

  it('2.7 leaves out what was not settled', () => {
    const none = { ...settings, n: 1, quality: null, aspectRatio: null, resolution: null };
    expect(Object.keys(jsonOf(encode({ settings: none }).pieces))).toEqual(['model', 'prompt', 'n', 'response_format']);
  });

  it.each([
    [1, { image: source }],
    [3, { images: [source, source, source] }],
  ])('4.3 the files of an edit become the JSON the vendor requires: %i', (count, expected) => {
    const references = Array.from({ length: count }, () => pngFile());
    const body = jsonOf(encode({ operation: 'edit', references }).pieces);
    expect(body).toMatchObject(expected);
    expect('image' in body && 'images' in body).toBe(false);
  });

  it.each<[string, Partial<ImageCall>]>([
    ['mask', { mask: pngFile() }],
    ['background', { extra: { background: 'transparent' } }],
  ])('4.3 what would change the picture and cannot be said is refused: %s', (param, call) => {
    expect(refusal(() => encode(call))).toMatchObject({ code: 'unsupported_parameter', status: 400, param });
  });
});

describe('a reply', () => {
  const good = { b64_json: big, mime_type: 'image/jpeg', revised_prompt: '', respect_moderation: true };

  it('reads Base64 and links', () => {
    const result = reply({
      data: [good, { url: 'https://imgen.test/a', mime_type: 'image/png', revised_prompt: 'x' }],
    });
    expect(result).toMatchObject({ created: null, usage: null, refused: 0 });
    expect(result.images).toEqual([
      { source: { kind: 'base64', base64: Buffer.from(big) }, mediaType: 'image/jpeg', revisedPrompt: null },
      { source: { kind: 'url', url: 'https://imgen.test/a' }, mediaType: 'image/png', revisedPrompt: 'x' },
    ]);
  });

  it.each<[string, unknown[]]>([
    ['marked so', [{ ...good, respect_moderation: false }]],
    ['an item with neither link nor bytes', [{ mime_type: 'image/jpeg' }]],
    ['all of several', [{ revised_prompt: '' }, { ...good, respect_moderation: false }, null]],
  ])('7 a 200 that hides a refusal is an error: %s', (_, data) => {
    expect(refusal(() => reply({ data }))).toMatchObject({ code: 'moderation_blocked', status: 400 });
  });

  it('7 some refused: the rest, and how many are missing', () => {
    const result = reply({ data: [{ ...good, respect_moderation: false }, good, {}] });
    expect([result.images.length, result.refused]).toEqual([1, 2]);
  });

  it('7 no items are no image', () => {
    for (const value of [{}, { data: [] }, { data: 'x' }])
      expect(refusal(() => reply(value)).code).toBe('upstream_no_image');
  });

  it('7 an error within a 200 is no success', () => {
    expect(refusal(() => reply({ error: 'Image rejected by content moderation.' })).code).toBe('moderation_blocked');
    expect(refusal(() => reply({ error: { message: 'Oops' }, data: [good] })).code).toBe('upstream_invalid_response');
  });

  it.each(['', '[]', '"x"', `{"data":[{"b64_json":"${big}`])('7 what is no answer cannot be used: %s', (text) => {
    expect(refusal(() => vendor.decodeReply(Buffer.from(text))).code).toBe('upstream_invalid_response');
  });
});

describe('an error body', () => {
  it.each<[string, unknown, object]>([
    [
      'a code and a text',
      { code: 'imagine:content-moderated', error: 'Rejected' },
      { code: 'imagine:content-moderated', message: 'Rejected' },
    ],
    [
      'an error object',
      { error: { message: 'Gone', type: 't', param: 'model', code: 'c' } },
      { message: 'Gone', type: 't', param: 'model', code: 'c' },
    ],
    ['a text alone', { error: 'prompt must not be empty' }, { message: 'prompt must not be empty', code: null }],
    ['a bare text', 'Blocked', { message: 'Blocked', code: null }],
  ])('reads %s', (_, body, expected) => expect(vendor.decodeError(body as never)).toMatchObject(expected));

  it('anything else is none', () => {
    for (const body of [null, 7, [], {}, { error: 7 }]) expect(vendor.decodeError(body)).toBeNull();
  });
});
