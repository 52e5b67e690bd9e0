import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { decodeImage } from './pixels.ts';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/openai/v1`;
const client = (): OpenAI => new OpenAI({ apiKey: 'sk-good', baseURL: base(), maxRetries: 0 });
const generate = (body: object) =>
  post(`${base()}/images/generations`, { model: 'gpt-image-2', prompt: 'A fox', ...body });
const PNG = createPictures('exact').draw({ format: 'png', width: 20, height: 10, seed: 'input' }).bytes;
const file = (name = 'a.png') => toFile(PNG, name, { type: 'image/png' });
const sizeOf = (base64: string | undefined) => decodeImage(Buffer.from(base64 ?? '', 'base64'));

describe('generations', () => {
  it('answer real images of the asked pixels, count and format, with usage', async () => {
    const reply = await client().images.generate({
      model: 'gpt-image-2',
      prompt: 'A fox',
      n: 2,
      size: '3840x2160',
      quality: 'high',
    });
    expect(reply).toMatchObject({ size: '3840x2160', quality: 'high', background: 'opaque', output_format: 'png' });
    expect(reply.data!.map(({ b64_json }) => sizeOf(b64_json))).toEqual(
      new Array(2).fill({ format: 'png', width: 3840, height: 2160 }),
    );
    expect(reply.data![0]!.b64_json).not.toBe(reply.data![1]!.b64_json);
    const { usage } = reply;
    expect(usage!.total_tokens).toBe(usage!.input_tokens + usage!.output_tokens);
    expect(usage!.input_tokens_details).toEqual({ text_tokens: 2, image_tokens: 0 });
  });

  it.each(['jpeg', 'webp'])('draw %s', async (format) => {
    const { body } = await generate({ size: '1024x1536', output_format: format, output_compression: 80 });
    expect(sizeOf(body.data[0].b64_json)).toEqual({ format, width: 1024, height: 1536 });
  });

  it('reach the file size the prompt asks for', async () => {
    const { body } = await generate({ prompt: 'big [bytes=1000000]' });
    expect(Buffer.from(body.data[0].b64_json, 'base64')).toHaveLength(1_000_000);
  });

  it('stream partial images and then the completed one', async () => {
    const stream = await client().images.generate({
      model: 'gpt-image-1.5',
      prompt: 'A fox',
      stream: true,
      partial_images: 2,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(events[1]).toMatchObject({ partial_image_index: 1, size: 'auto', quality: 'auto', background: 'auto' });
    expect(events[2]).toMatchObject({ size: '1024x1024', quality: 'high', background: 'opaque' });
    expect(new Set(events.map(({ b64_json }) => b64_json)).size).toBe(3);
    expect(events[2]).toMatchObject({ usage: { input_tokens_details: { text_tokens: 2 } } });
    expect(events.every(({ b64_json }) => sizeOf(b64_json).width === 1024)).toBe(true);
  });

  it.each([
    [{ response_format: 'url' }, 'response_format', 'unknown_parameter'],
    [{ style: 'vivid' }, 'style', 'unknown_parameter'],
    [{ aspect_ratio: '1:1' }, 'aspect_ratio', 'unknown_parameter'],
    [{ n: 11 }, 'n', 'integer_above_max_value'],
    [{ prompt: undefined }, 'prompt', 'missing_required_parameter'],
    [{ size: '1000x1000' }, 'size', 'invalid_value'],
    [{ size: '3856x1024' }, 'size', 'invalid_value'],
    [{ size: '2048x640' }, 'size', 'invalid_value'],
    [{ size: '512x512' }, 'size', 'invalid_value'],
    [{ size: '3840x2176' }, 'size', 'invalid_value'],
    [{ size: 'huge' }, 'size', 'invalid_value'],
    [{ model: 'gpt-image-1.5', size: '2048x2048' }, 'size', 'invalid_value'],
    [{ quality: 'ultra' }, 'quality', 'invalid_value'],
    [{ quality: 'max' }, 'quality', 'invalid_value'],
    [{ background: 'blue' }, 'background', 'invalid_value'],
    [{ background: 'transparent', output_format: 'jpeg' }, 'background', 'invalid_parameter_combination'],
    [{ partial_images: 1 }, 'partial_images', 'invalid_parameter_combination'],
    [{ model: 'gpt-5.5' }, 'model', 'invalid_value'],
  ])('refuse %j', async (body, param, code) => {
    expect(await generate(body)).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param, code } },
    });
  });

  it('accept the newest model’s own qualities, and know no retired model', async () => {
    expect((await generate({ model: 'gpt-image-2.6-flare', quality: 'max' })).status).toBe(200);
    expect((await generate({ model: 'gpt-image-1' })).body.error.code).toBe('model_not_found');
  });
});

describe('edits', () => {
  it('take one image or several as the official client sends them', async () => {
    const one = await client().images.edit({ model: 'gpt-image-1.5', prompt: 'Scarf', image: await file() });
    expect(sizeOf(one.data![0]!.b64_json)).toMatchObject({ width: 1024, height: 1024 });
    const ask = {
      model: 'gpt-image-2',
      prompt: 'Scarf',
      image: [await file(), await file('b.png')],
      n: 2,
      size: '2048x2048' as never,
    };
    const two = await client().images.edit(ask);
    expect(two.data).toHaveLength(2);
    expect(two.usage!.input_tokens_details.image_tokens).toBe(2 * 323);
    expect(simulator.current.received.at(-1)!.body).toMatchObject({
      fields: { model: 'gpt-image-2', n: '2', size: '2048x2048' },
      files: [
        { field: 'image[]', filename: 'a.png', contentType: 'image/png', bytes: PNG },
        { field: 'image[]', filename: 'b.png' },
      ],
    });
  });

  it('stream their own event names', async () => {
    const stream = await client().images.edit({
      model: 'gpt-image-2',
      prompt: 'x',
      image: await file(),
      stream: true,
      partial_images: 1,
    });
    const types = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed']);
  });

  it('take JSON with data URLs', async () => {
    const image_url = `data:image/png;base64,${PNG.toString('base64')}`;
    const edit = (images: unknown) => post(`${base()}/images/edits`, { model: 'gpt-image-2', prompt: 'x', images });
    expect((await edit([{ image_url }, { file_id: 'file_1' }])).status).toBe(200);
    expect((await edit([{ image_url, file_id: 'file_1' }])).body.error.param).toBe('images[0]');
    expect((await edit([{ image_url: 'data:image/png;base64,AAAA' }])).body.error.code).toBe('invalid_image_file');
  });

  const form = (fields: [string, string | Blob][]): FormData => {
    const data = new FormData();
    for (const [name, value] of fields) data.append(name, value);
    return data;
  };
  const basics: [string, string][] = [
    ['model', 'gpt-image-2'],
    ['prompt', 'x'],
  ];
  const blob = new Blob([PNG], { type: 'image/png' });

  it.each<[string, [string, string | Blob][], string, string]>([
    ['no image', basics, 'image', 'missing_required_parameter'],
    ['a repeated image', [...basics, ['image', blob], ['image', blob]], 'image', 'duplicate_parameter'],
    ['what is no image', [...basics, ['image', new Blob(['text'])]], 'image', 'invalid_image_file'],
    [
      'response_format',
      [...basics, ['image', blob], ['response_format', 'url']],
      'response_format',
      'unknown_parameter',
    ],
    ['n that is no number', [...basics, ['image', blob], ['n', 'two']], 'n', 'invalid_type'],
    [
      'fidelity where it is fixed',
      [...basics, ['image', blob], ['input_fidelity', 'high']],
      'input_fidelity',
      'invalid_input_fidelity_model',
    ],
  ])('refuse %s', async (_name, fields, param, code) => {
    const reply = await post(`${base()}/images/edits`, form(fields));
    expect(reply).toMatchObject({ status: 400, body: { error: { param, code } } });
  });

  it('refuse a form that ends too early', async () => {
    const body = '--B\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-image-2\r\n';
    const reply = await post(`${base()}/images/edits`, body, { 'content-type': 'multipart/form-data; boundary=B' });
    expect(reply.status).toBe(400);
  });
});
