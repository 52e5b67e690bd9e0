/** Generation and edits of the three families, through the official SDK and plain HTTP, down to the pixels. */
import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  edit,
  expectAudit,
  formOf,
  generate,
  jsonOf,
  objectsOf,
  picture,
  png,
  sendForm,
  sent,
  stored,
} from './images-kit.ts';

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await startStack();
  client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
});
afterEach(() => stack.simulator.reset());
afterAll(() => stack.close());

const models = ['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'];
/** What each family's vendor draws where the client says nothing. */
const sizes: Record<string, { format: string; width: number; height: number }> = {
  'alpha-image-1k': { format: 'png', width: 1024, height: 1024 },
  'beta-3-pro-image': { format: 'png', width: 1024, height: 1024 },
  'gamma-imagine-image': { format: 'jpeg', width: 960, height: 960 },
};

describe.each(models)('%s', (model) => {
  it('2.1 response_format defaults to url; 2.3 created, data[].url: a signed URL of a stored copy', async () => {
    const before = Math.floor(Date.now() / 1000);
    const reply = await client.images.generate({ model, prompt: 'a fox' });
    expect(reply.created).toBeGreaterThanOrEqual(before);
    expect(Number.isInteger(reply.created)).toBe(true);
    expect(reply.data).toHaveLength(1);
    expect(reply.data![0]!.b64_json).toBeUndefined();
    expect(await stored(stack, reply.data![0]!.url!)).toEqual(sizes[model]);
  });

  it('2.3 data[].b64_json in place of the url, the same pixels, nothing stored', async () => {
    const before = await objectsOf(stack);
    const reply = await client.images.generate({ model, prompt: 'a fox', response_format: 'b64_json' });
    expect(reply.data![0]!.url).toBeUndefined();
    expect(picture(reply.data![0]!.b64_json!)).toEqual(sizes[model]);
    expect(await objectsOf(stack)).toEqual(before);
    await client.images.generate({ model, prompt: 'a fox' });
    expect((await objectsOf(stack)).length).toBe(before.length + 1);
  });

  it('2.2 an edit through the SDK, one image and two, url and b64_json', async () => {
    const file = (shade: number) => toFile(png(shade), 'a.png', { type: 'image/png' });
    const one = await client.images.edit({ model, prompt: 'night', image: await file(1) });
    await stored(stack, one.data![0]!.url!);
    const two = await client.images.edit({
      model,
      prompt: 'night',
      image: [await file(2), await file(3)],
      response_format: 'b64_json',
    });
    expect(picture(two.data![0]!.b64_json!).width).toBeGreaterThan(0);
    expect(two.data![0]!.url).toBeUndefined();
  });

  it('2.3 an unsigned or altered URL is no way to the object', async () => {
    const reply = await client.images.generate({ model, prompt: 'a fox' });
    const url = reply.data![0]!.url!;
    const unsigned = await fetch(url.split('?')[0]!);
    expect(unsigned.status).toBe(403);
    const altered = await fetch(url.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
    expect(altered.status).toBe(403);
  });
});

it.each([
  ['alpha-image-1k', 'openai', 'gpt-image-2'],
  ['alpha-image-4k', 'openai', 'gpt-image-2'],
  ['beta-3-pro-image', 'gemini', 'gemini-3-pro-image'],
  ['beta-3.1-flash-image', 'gemini', 'gemini-3.1-flash-image'],
  ['gamma-imagine-image', 'xai', 'grok-imagine-image'],
  ['gamma-imagine-image-quality', 'xai', 'grok-imagine-image-quality'],
])('4.2(1) the model %s, and nothing else, sends a request to %s', async (model, vendor, name) => {
  for (const response of [await generate(stack, { model }), await edit(stack, { model })])
    expect(response.status).toBe(200);
  expect(stack.simulator.received.map((request) => request.vendor)).toEqual([vendor, vendor]);
  for (const { path, raw } of stack.simulator.received) {
    expect(`${path}\n${raw.toString('latin1')}`).toContain(name);
    expect(raw.toString('latin1')).not.toContain(model);
  }
});

describe('alpha', () => {
  it.each([
    ['alpha-image-1k', '1024x1024'],
    ['alpha-image-2k', '2048x2048'],
    ['alpha-image-4k', '3840x2160'],
  ])('2.5 %s is %s and high, whatever the caller sends (4.2(4))', async (model, size) => {
    const response = await generate(stack, {
      model,
      size: '512x512',
      quality: 'low',
      aspect_ratio: '9:16',
      resolution: '1K',
      image_size: '4K',
      response_format: 'url',
      user: 'u1',
    });
    expect(response.status).toBe(200);
    expect(sent(stack)).toEqual({ model: 'gpt-image-2', prompt: 'a fox', n: 1, size, quality: 'high', user: 'u1' });
    const reply = await jsonOf(response);
    const [width, height] = size.split('x').map(Number);
    expect(await stored(stack, reply.data[0].url)).toEqual({ format: 'png', width, height });
    expect(reply).toMatchObject({ size, quality: 'high', output_format: 'png' });
  });

  it('4.2(4) sizes that contradict each other or mean nothing are ignored too', async () => {
    const response = await generate(stack, {
      model: 'alpha-image-1k',
      size: 'nonsense',
      aspect_ratio: '1:100',
      resolution: '99K',
      quality: 'ultra',
    });
    expect(response.status).toBe(200);
  });

  it('2.5 an edit has the fixed specification as well, response_format is not sent upstream', async () => {
    const response = await edit(
      stack,
      { model: 'alpha-image-2k', size: '512x512', quality: 'low', response_format: 'b64_json', input_extra: 'x' },
      [png(1)],
    );
    // Unknown fields go to the vendor, which judges them.
    expect(response.status).toBe(400);
    stack.simulator.reset();
    const good = await edit(stack, { model: 'alpha-image-2k', size: '512x512', quality: 'low', n: '2', user: 'u' }, [
      png(1),
      png(2),
    ]);
    expect(good.status).toBe(200);
    const { fields, files } = sent(stack);
    expect(fields).toEqual({
      model: 'gpt-image-2',
      prompt: 'make it night',
      n: '2',
      size: '2048x2048',
      quality: 'high',
      user: 'u',
    });
    expect(files.map((file: { field: string; bytes: Buffer }) => [file.field, file.bytes.equals(png(1))])).toEqual([
      ['image[]', true],
      ['image[]', false],
    ]);
    const reply = await jsonOf(good);
    expect(reply.data).toHaveLength(2);
    expect(reply.data[0].url).not.toBe(reply.data[1].url);
  });

  it('2.2 a mask reaches the vendor as a file', async () => {
    const form = formOf({ model: 'alpha-image-1k', prompt: 'p' }, [
      { field: 'image', bytes: png() },
      { field: 'mask', bytes: png(9), name: 'mask.png' },
    ]);
    expect((await sendForm(stack, form)).status).toBe(200);
    const { files } = sent(stack);
    expect(files.map((file: { field: string }) => file.field)).toEqual(['image', 'mask']);
    expect(files[1].bytes.equals(png(9))).toBe(true);
  });
});

describe('a channel with parameters of its own', () => {
  let own: Stack;
  beforeAll(async () => {
    own = await startStack({
      edit({ channels }) {
        for (const channel of Object.values<Record<string, unknown>>(channels.channels))
          channel.parameters = { set: { output_format: 'webp' }, remove: ['user'] };
      },
    });
  });
  afterAll(() => own.close());

  it('2.5 lays them over JSON and over forms', async () => {
    const model = 'alpha-image-1k';
    for (const response of [
      await generate(own, { model, user: 'u', output_format: 'png' }),
      await edit(own, { model, user: 'u', output_format: 'png' }),
    ]) {
      expect(response.status).toBe(200);
      expect((await jsonOf(response)).output_format).toBe('webp');
    }
    const [json, form] = own.simulator.received.map(({ body }) => body as Record<string, object>);
    expect(json).toMatchObject({ output_format: 'webp' });
    expect(form!.fields).toMatchObject({ output_format: 'webp' });
    expect(json).not.toHaveProperty('user');
    expect(form!.fields).not.toHaveProperty('user');
  });
});

describe('beta', () => {
  const model = 'beta-3.1-flash-image';
  const config = () => sent(stack).generationConfig.imageConfig;

  it.each([
    [{ aspect_ratio: '16:9' }, { aspectRatio: '16:9', imageSize: '1K' }],
    [{ resolution: '4K' }, { aspectRatio: '1:1', imageSize: '4K' }],
    [{ image_size: '2K' }, { aspectRatio: '1:1', imageSize: '2K' }],
    [{ size: '2752x1536' }, { aspectRatio: '16:9', imageSize: '2K' }],
    [{ quality: 'high' }, { aspectRatio: '1:1', imageSize: '2K' }],
    [{}, { aspectRatio: '1:1', imageSize: '1K' }],
    [
      { aspect_ratio: '3:2', resolution: '2K', image_size: '2K' },
      { aspectRatio: '3:2', imageSize: '2K' },
    ],
    [
      { aspect_ratio: '16:9', size: '2752x1536', resolution: '2K' },
      { aspectRatio: '16:9', imageSize: '2K' },
    ],
    [
      { size: '1024x1024', n: 1 },
      { aspectRatio: '1:1', imageSize: '1K' },
    ],
  ])('2.6 %j goes upstream as %j', async (fields, expected) => {
    const response = await generate(stack, { model, ...fields });
    expect(response.status).toBe(200);
    expect(config()).toEqual(expected);
    expect(sent(stack)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a fox' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: expected },
    });
  });

  it.each(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'])(
    '2.6 the common ratio %s on both models',
    async (ratio) => {
      for (const name of ['beta-3-pro-image', model]) {
        stack.simulator.reset();
        expect((await generate(stack, { model: name, aspect_ratio: ratio })).status).toBe(200);
        expect(config().aspectRatio).toBe(ratio);
      }
    },
  );

  it.each(['1:4', '4:1', '1:8', '8:1'])('2.6 the ultra-wide ratio %s on the flash model', async (ratio) => {
    expect((await generate(stack, { model, aspect_ratio: ratio })).status).toBe(200);
    expect(config().aspectRatio).toBe(ratio);
  });

  it('2.6 the pixels are those of ratio and tier', async () => {
    const reply = await jsonOf(await generate(stack, { model, aspect_ratio: '16:9', resolution: '2K' }));
    expect(await stored(stack, reply.data[0].url)).toMatchObject({ width: 2752, height: 1536 });
    expect(reply.size).toBe('2752x1536');
  });

  it('4.3 14 reference images go upstream in their order, the converted setting beside them', async () => {
    const files = Array.from({ length: 14 }, (_, index) => png(index));
    const response = await edit(stack, { model, aspect_ratio: '4:3', resolution: '2K', quality: 'high' }, files);
    expect(response.status).toBe(200);
    const { parts } = sent(stack).contents[0];
    expect(parts[0]).toEqual({ text: 'make it night' });
    expect(parts.slice(1)).toEqual(
      files.map((bytes) => ({ inlineData: { mimeType: 'image/png', data: bytes.toString('base64') } })),
    );
    expect(config()).toEqual({ aspectRatio: '4:3', imageSize: '2K' });
  });
});

describe('gamma', () => {
  const model = 'gamma-imagine-image';
  const base = { model: 'grok-imagine-image', prompt: 'a fox', n: 1, response_format: 'b64_json' };

  it.each([
    [{}, {}],
    [{ size: '1024x1024' }, { aspect_ratio: '1:1', resolution: '1k' }],
    [{ size: '2048x1152' }, { aspect_ratio: '16:9', resolution: '2k' }],
    [{ size: '1024x1536' }, { aspect_ratio: '2:3', resolution: '1k' }],
    [{ aspect_ratio: 'auto' }, { aspect_ratio: 'auto' }],
    [
      { aspect_ratio: '19.5:9', resolution: '2k' },
      { aspect_ratio: '19.5:9', resolution: '2k' },
    ],
    [{ quality: 'low' }, { quality: 'low' }],
    [{ quality: 'medium' }, { quality: 'medium' }],
    [{ quality: 'auto' }, {}],
    [{ response_format: 'b64_json' }, {}],
    [{ response_format: 'url' }, {}],
    [{ stream: false }, {}],
    [{ stream: true }, {}],
    [{ n: 10 }, { n: 10 }],
    [{ user: 'u1', moderation: 'low', background: 'auto' }, { user: 'u1' }],
  ])('2.7 %j goes upstream as %j', async (fields, expected) => {
    const response = await generate(stack, { model, ...fields });
    expect(response.status).toBe(200);
    await response.text();
    expect(sent(stack)).toEqual({ ...base, ...expected });
  });

  it.each(['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2', '21:9', '5:2'])(
    '2.7 aspect_ratio %s',
    async (ratio) => {
      expect((await generate(stack, { model, aspect_ratio: ratio })).status).toBe(200);
      expect(sent(stack).aspect_ratio).toBe(ratio);
    },
  );

  it('4.3 multipart becomes the JSON xAI wants: `image` for one, `images` for several, at most five', async () => {
    expect((await edit(stack, { model, stream: 'true', quality: 'low' }, [png(1)])).status).toBe(200);
    const source = (shade: number) => ({
      url: `data:image/png;base64,${png(shade).toString('base64')}`,
      type: 'image_url',
    });
    expect(sent(stack)).toEqual({ ...base, prompt: 'make it night', quality: 'low', image: source(1) });
    expect(stack.simulator.received[0]!.headers['content-type']).toBe('application/json');
    stack.simulator.reset();
    expect((await edit(stack, { model, n: '2' }, [1, 2, 3, 4, 5].map(png))).status).toBe(200);
    expect(sent(stack)).toEqual({ ...base, prompt: 'make it night', n: 2, images: [1, 2, 3, 4, 5].map(source) });
  });

  it('2.3 b64_json of a JPEG with a megabyte of metadata in front of its size', async () => {
    const response = await generate(stack, { model, prompt: 'a fox [bytes=1000000]', response_format: 'b64_json' });
    const reply = await jsonOf(response);
    expect(reply.size).toBe('960x960');
    expect(Buffer.from(reply.data[0].b64_json, 'base64')).toHaveLength(1_000_000);
  });

  it('2.7 n=3 gives three images, each with its own URL', async () => {
    const reply = await jsonOf(await generate(stack, { model, n: 3 }));
    expect(new Set(reply.data.map((item: { url: string }) => item.url)).size).toBe(3);
    for (const { url } of reply.data) await stored(stack, url);
  });
});

it('8 the audit holds and nothing is held any more', () => expectAudit(stack));
