import { describe, expect, it } from 'vitest';
import type { ImageCall, ImageEvent } from '../../engine/plugin.ts';
import protocol from '../../plugins/protocols/openai-images.ts';
import { imageCall, jsonOf, png, pngFile, refusal } from './support.ts';

const vendor = protocol.vendor!;
const encode = (call: Partial<ImageCall>) => vendor.encodeRequest(imageCall({}, call), 'gpt-image-2');
const settings = { n: 2, size: '2048x2048', quality: 'high', aspectRatio: null, resolution: null };
const reply = (value: unknown) => vendor.decodeReply(Buffer.from(JSON.stringify(value)));
const big = 'QUJD'.repeat(2000);

describe('a request', () => {
  it('2.5 a generation is JSON with the settled size and quality and the vendor’s model', () => {
    const { contentType, pieces } = encode({
      settings,
      extra: { background: 'opaque', model: 'mine' },
      responseFormat: 'b64_json',
    });
    expect(contentType).toBe('application/json');
    expect(jsonOf(pieces)).toEqual({
      model: 'gpt-image-2',
      prompt: 'A fox in fog',
      n: 2,
      size: '2048x2048',
      quality: 'high',
      background: 'opaque',
    });
  });

  it('6.1 stream and partial_images are sent for a stream, and only then', () => {
    expect(jsonOf(encode({ stream: true, partialImages: 2 }).pieces)).toMatchObject({
      stream: true,
      partial_images: 2,
    });
    expect(Object.keys(jsonOf(encode({ stream: false, partialImages: 2 }).pieces))).toEqual(['model', 'prompt', 'n']);
  });

  it('2.2 an edit is a form with the bytes of the files uncopied', async () => {
    const references = [pngFile('"a"\r\nx: y.png'), pngFile('ü.png')];
    const mask = pngFile('m.png');
    const extra = { user: 'u', tag: ['a', 'b'], 'x"\r\ny': '1', flag: true };
    const { contentType, pieces } = encode({ operation: 'edit', settings, references, mask, extra });
    for (const { bytes } of [...references, mask]) expect(pieces).toContain(bytes);

    const form = await new Response(Buffer.concat(pieces), { headers: { 'content-type': contentType } }).formData();
    const text = (name: string) => form.getAll(name);
    expect([text('model'), text('n'), text('size'), text('quality')]).toEqual([
      ['gpt-image-2'],
      ['2'],
      ['2048x2048'],
      ['high'],
    ]);
    expect([text('user'), text('tag'), text('flag'), text('response_format')]).toEqual([
      ['u'],
      ['a', 'b'],
      ['true'],
      [],
    ]);
    const files = form.getAll('image[]') as File[];
    expect(files.map(({ name, type }) => [name, type])).toEqual([
      ['_a___x__y.png', 'image/png'],
      ['_.png', 'image/png'],
    ]);
    expect(Buffer.from(await files[1]!.arrayBuffer())).toEqual(png());
    expect((form.get('mask') as File).name).toBe('m.png');
    // A hostile name stays within its header: the parser takes the escapes back.
    expect(form.get('x"\r\ny')).toBe('1');
    expect(Buffer.concat(pieces).includes('\r\ny"')).toBe(false);
  });

  it('2.2 one file is sent as image', async () => {
    const { contentType, pieces } = encode({ operation: 'edit', references: [pngFile()] });
    const form = await new Response(Buffer.concat(pieces), { headers: { 'content-type': contentType } }).formData();
    expect(form.getAll('image')).toHaveLength(1);
  });
});

describe('a whole reply', () => {
  it('reads images, what is said of them, and usage with its details', () => {
    const usage = {
      input_tokens: 14,
      output_tokens: 1100,
      total_tokens: 1114,
      input_tokens_details: { text_tokens: 10, image_tokens: 4 },
    };
    const data = [{ b64_json: big, revised_prompt: 'x' }, { url: 'https://files.test/a.png' }];
    const result = reply({ created: 7, quality: 'high', output_format: 'webp', data, usage });
    expect(result).toMatchObject({ created: 7, refused: 0, extra: { quality: 'high', output_format: 'webp', usage } });
    expect(result.usage).toEqual({ input: 14, cachedInput: 0, cacheWrite: 0, output: 1100, reasoning: 0 });
    expect(result.images).toEqual([
      { source: { kind: 'base64', base64: Buffer.from(big) }, mediaType: 'image/webp', revisedPrompt: 'x' },
      { source: { kind: 'url', url: 'https://files.test/a.png' }, mediaType: 'image/webp', revisedPrompt: null },
    ]);
  });

  it('takes a data URL for the Base64 in it', () => {
    for (const item of [{ b64_json: `data:image/png;base64,${big}` }, { url: `data:image/png;base64,${big}` }]) {
      const [image] = reply({ data: [item] }).images;
      expect(image).toMatchObject({ mediaType: 'image/png', source: { kind: 'base64', base64: Buffer.from(big) } });
    }
  });

  it.each([
    [{}],
    [{ data: [] }],
    [{ data: [{}] }],
    [{ data: [null, 1, 'x'] }],
    [{ data: 'x' }],
    [{ data: [{ b64_json: '' }] }],
  ])('7 a 200 without an image is an error: %j', (value) =>
    expect(refusal(() => reply(value))).toMatchObject({ code: 'upstream_no_image', status: 502 }),
  );

  it.each([['[1]'], ['"x"'], ['null'], ['{"data":['], [''], ['<html>'], [`{"data":[{"b64_json":"${big}`]])(
    '7 what is no JSON object cannot be used: %s',
    (text) =>
      expect(refusal(() => vendor.decodeReply(Buffer.from(text)))).toMatchObject({
        code: 'upstream_invalid_response',
        status: 502,
      }),
  );

  it('7 an error within a 200 is no success', () => {
    const moderation = { error: { code: 'moderation_blocked', message: 'Rejected.' } };
    expect(refusal(() => reply(moderation))).toMatchObject({ code: 'moderation_blocked', status: 400 });
    expect(refusal(() => reply({ error: { message: 'Oops' }, data: [{ b64_json: big }] })).code).toBe(
      'upstream_invalid_response',
    );
  });

  it('counts that are none are zero', () => {
    const usage = { input_tokens: -1, output_tokens: 1e300, total_tokens: 'x', input_tokens_details: [] };
    const result = reply({ data: [{ b64_json: big }], usage, size: 7, quality: { a: 1 } });
    expect(result.usage).toMatchObject({ input: 0, output: 0 });
    expect(result.extra).toEqual({
      usage: {
        total_tokens: 0,
        input_tokens: 0,
        output_tokens: 0,
        input_tokens_details: { text_tokens: 0, image_tokens: 0 },
      },
    });
  });
});

describe('a stream', () => {
  const read = (event: string | null, value: unknown): ImageEvent[] => {
    const data = typeof value === 'string' ? value : JSON.stringify(value);
    return vendor.decodeStream!()({ event, data });
  };
  const completed = 'image_generation.completed';

  it('6.1 previews and the completed image', () => {
    const partial = {
      type: 'image_generation.partial_image',
      b64_json: big,
      partial_image_index: 1,
      size: '1x1',
      created_at: 9,
    };
    expect(read(partial.type, partial)).toEqual([
      { type: 'partial', base64: Buffer.from(big), index: 1, extra: { size: '1x1', created_at: 9 } },
    ]);
    const [event] = read(completed, {
      type: completed,
      b64_json: big,
      output_format: 'png',
      usage: { input_tokens: 1, output_tokens: 2 },
    });
    expect(event).toMatchObject({
      type: 'completed',
      usage: { input: 1, output: 2 },
      image: { mediaType: 'image/png' },
    });
  });

  it('6.1 the edit’s events are the same under their own names', () => {
    expect(read('image_edit.partial_image', { type: 'image_edit.partial_image', b64_json: 'AAA=' })).toMatchObject([
      { type: 'partial', index: 0 },
    ]);
    expect(read('image_edit.completed', { type: 'image_edit.completed', b64_json: 'AAA=' })).toMatchObject([
      { type: 'completed' },
    ]);
  });

  it('tolerates frames without an event line, urls, lists, and closing markers', () => {
    expect(read(null, { type: completed, b64_json: big })).toMatchObject([{ type: 'completed' }]);
    expect(read(completed, { url: 'https://f.test/a' })).toMatchObject([{ image: { source: { kind: 'url' } } }]);
    expect(read(null, { type: completed, data: [{ b64_json: big }, { url: 'https://f.test/a' }] })).toHaveLength(2);
    expect(read(null, { type: 'image_generation.partial_succeeded', url: 'https://f.test/a' })).toMatchObject([
      { type: 'completed' },
    ]);
    expect([read(null, '[DONE]'), read('done', 'x'), read(null, { type: 'ping' })]).toEqual([[], [], []]);
  });

  it.each<[string, string | null, unknown]>([
    ['an error event', 'error', { type: 'error', error: { code: 'moderation_blocked', message: 'No.' } }],
    ['an error object alone', null, { error: { code: 'moderation_blocked', message: 'No.' } }],
    ['an error event without an object', 'error', { code: 'moderation_blocked', message: 'No.' }],
  ])('6.1 %s is an error', (_, event, value) => {
    expect(read(event, value)).toMatchObject([
      { type: 'error', error: { code: 'moderation_blocked', message: 'No.' } },
    ]);
  });

  it.each([
    ['not json'],
    ['{"type":"image_generation.partial_image"}'],
    ['{"type":"image_generation.partial_image","b64_json":"a\\"b"}'],
  ])('a frame that cannot be used ends the attempt: %s', (data) =>
    expect(refusal(() => read(null, data)).code).toBe('upstream_invalid_response'),
  );
});

describe('an error body', () => {
  it('is read with its code, type and param', () => {
    const error = { message: 'Bad size', type: 'invalid_request_error', param: 'size', code: 'invalid_value' };
    expect(vendor.decodeError({ error })).toEqual({ ...error, retryAfter: null });
    expect(vendor.decodeError([{ error }])).toMatchObject({ code: 'invalid_value' });
    expect(vendor.decodeError({ error: 'Just text' })).toMatchObject({ message: 'Just text', code: null });
  });

  it('is bounded, and anything else is none', () => {
    expect(vendor.decodeError({ error: { message: 'x'.repeat(100_000), code: 7 } })).toMatchObject({
      message: 'x'.repeat(1000),
      code: null,
    });
    for (const body of [null, 'x', 1, [], {}, { error: null }, { error: [] }])
      expect(vendor.decodeError(body)).toBeNull();
  });
});
