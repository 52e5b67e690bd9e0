import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { decodeImage } from './pixels.ts';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/xai/v1`;
const basics = { model: 'grok-imagine-image', prompt: 'A fox' };
const generate = (body: object, headers = {}) => post(`${base()}/images/generations`, { ...basics, ...body }, headers);
const edit = (body: object) => post(`${base()}/images/edits`, { ...basics, ...body });
const PNG = createPictures('exact').draw({ format: 'png', width: 900, height: 1600, seed: 'i' }).bytes;
const source = { type: 'image_url', url: `data:image/png;base64,${PNG.toString('base64')}` };

async function download(url: string) {
  const response = await fetch(url);
  return { type: response.headers.get('content-type'), ...decodeImage(Buffer.from(await response.arrayBuffer())) };
}

describe('generations', () => {
  it('answer URLs by default, which serve the real bytes without a credential', async () => {
    const { body } = await generate({ n: 2, aspect_ratio: '16:9' });
    expect(body.data).toHaveLength(2);
    expect(body.data[0]).toMatchObject({ mime_type: 'image/jpeg', respect_moderation: true, revised_prompt: '' });
    expect(body.data[0].url.startsWith(`${simulator.current.url}/xai/files/`)).toBe(true);
    expect(await download(body.data[0].url)).toEqual({ type: 'image/jpeg', format: 'jpeg', width: 1280, height: 720 });
    expect(body.usage).toEqual({ cost_in_usd_ticks: 400_000_000 });
    expect(body.created).toBeUndefined();
    expect((await fetch(`${simulator.current.url}/xai/files/nothing.jpg`)).status).toBe(404);
  });

  it.each([
    ['grok-imagine-image', '1k', 'jpeg', 960],
    ['grok-imagine-image-2.0', '1.5k', 'jpeg', 1440],
    ['grok-imagine-image-quality', '2k', 'png', 1920],
  ])('answer Base64 of %s at %s', async (model, resolution, format, side) => {
    const { body } = await generate({ model, resolution, response_format: 'b64_json' });
    expect(body.data[0].mime_type).toBe(`image/${format}`);
    expect(body.data[0].url).toBeUndefined();
    expect(decodeImage(Buffer.from(body.data[0].b64_json, 'base64'))).toEqual({ format, width: side, height: side });
  });

  it.each(['size', 'style', 'seed', 'stream', 'background', 'output_format', 'mask'])('refuse %s', async (name) => {
    const reply = await generate({ [name]: 'x' });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'Client specified an invalid argument', error: `Argument not supported: ${name}` },
    });
  });

  it.each([
    { n: 0 },
    { n: 11 },
    { aspect_ratio: '7:5' },
    { resolution: '1K' },
    { resolution: '4k' },
    { quality: 'high' },
    { response_format: 'png' },
  ])('refuse %j', async (body) => {
    const reply = await generate(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toBeTypeOf('string');
  });

  it('accept the odd ratios, auto, and a low quality', async () => {
    for (const aspect_ratio of ['9:19.5', '20:9', '21:9', '5:2', 'auto'])
      expect((await generate({ aspect_ratio, quality: 'low' })).status).toBe(200);
  });

  it('use three shapes of errors', async () => {
    expect((await generate({ prompt: '' })).body).toEqual({ error: 'prompt must not be empty' });
    expect(await generate({ model: 'grok-9' })).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found', param: 'model' } },
    });
    const badKey = await generate({}, { authorization: 'Bearer xai-bad-key-1234' });
    expect(badKey.status).toBe(400);
    expect(badKey.body).toMatchObject({
      code: 'Client specified an invalid argument',
      error: expect.stringContaining('Incorrect API key provided: xai-b***34'),
    });
    expect((await generate({}, { authorization: 'Bearer quota' })).status).toBe(429);
    expect((await generate({}, { authorization: '' })).status).toBe(401);
  });
});

describe('edits', () => {
  it('take one image, whose ratio they keep, or up to five', async () => {
    const one = await edit({ image: source, aspect_ratio: '1:1' });
    expect(await download(one.body.data[0].url)).toMatchObject({ width: 720, height: 1280 });
    const five = await edit({ images: new Array(5).fill(source), aspect_ratio: '1:1', response_format: 'b64_json' });
    expect(decodeImage(Buffer.from(five.body.data[0].b64_json, 'base64'))).toMatchObject({ width: 960, height: 960 });
  });

  it.each<[string, object]>([
    ['six images', { images: new Array(6).fill(source) }],
    ['image and images', { image: source, images: [source] }],
    ['neither', {}],
    ['what is no image', { image: { url: 'data:image/png;base64,AAAA' } }],
    ['url and file', { image: { ...source, file_id: 'f' } }],
    ['a mask', { image: source, mask: source }],
  ])('refuse %s', async (_name, body) => {
    expect((await edit(body)).status).toBe(400);
  });

  it('refuse a form with 415', async () => {
    const form = new FormData();
    form.append('model', 'grok-imagine-image');
    form.append('image', new Blob([PNG]), 'a.png');
    expect((await post(`${base()}/images/edits`, form)).status).toBe(415);
  });
});
