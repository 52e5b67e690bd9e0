import { GoogleGenAI } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { boxesOf } from './boxes.ts';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator({ images: 'small' });
const origin = (): string => `${simulator.current.url}/gemini`;
const MODEL = 'veo-3.1-generate-preview';
const PNG = createPictures('exact').draw({ format: 'png', width: 64, height: 36, seed: 'v' }).bytes.toString('base64');
const image = { bytesBase64Encoded: PNG, mimeType: 'image/png' };
const reference = { image, referenceType: 'asset' };
const start = (instance: object = {}, parameters: object = {}, model = MODEL) =>
  post(`${origin()}/v1beta/models/${model}:predictLongRunning`, {
    instances: [{ prompt: 'A kite over dunes', ...instance }],
    parameters,
  });

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, asserted field by field
async function poll(name: string, key = 'good'): Promise<any> {
  const response = await fetch(`${origin()}/v1beta/${name}`, { headers: { 'x-goog-api-key': key } });
  return response.json();
}

/** What an operation says at its end. */
async function end(prompt: string, model = MODEL) {
  const { name } = (await start({ prompt: `${prompt} [polls=1]` }, {}, model)).body;
  return poll(name);
}

describe('Veo operations', () => {
  it('are done at the steered poll and name a file that needs the key and redirects once', async () => {
    const { body } = await start(
      { prompt: 'A kite [polls=2] [bytes=200000]' },
      { durationSeconds: 8, aspectRatio: '9:16' },
    );
    expect(body.name).toMatch(new RegExp(`^models/${MODEL}/operations/.+$`));
    expect(await poll(body.name)).toEqual({ name: body.name });
    const done = await poll(body.name);
    expect(done).toMatchObject({ name: body.name, done: true });
    const { uri } = done.response.generateVideoResponse.generatedSamples[0].video;
    expect(uri).toMatch(/\/gemini\/v1beta\/files\/[^/]+:download\?alt=media$/);
    expect((await fetch(uri)).status).toBe(403);
    const step = await fetch(uri, { headers: { 'x-goog-api-key': 'good' }, redirect: 'manual' });
    expect(step.status).toBe(302);
    const bare = await fetch(step.headers.get('location')!);
    expect(bare.headers.get('content-length')).toBe('200000');
    const file = Buffer.from(await bare.arrayBuffer());
    expect(boxesOf(file).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
    const followed = await fetch(`${uri}&key=good`);
    expect(Buffer.from(await followed.arrayBuffer()).equals(file)).toBe(true);
    expect((await fetch(step.headers.get('location')!.replace(/token=.*/, 'token=x'))).status).toBe(404);
  });

  it('are understood by the official client', async () => {
    const baseUrl = origin();
    const client = new GoogleGenAI({ apiKey: 'good', httpOptions: { baseUrl } });
    let operation = await client.models.generateVideos({
      model: 'veo-3.1-fast-generate-preview',
      source: { prompt: 'A kite', image: { imageBytes: PNG, mimeType: 'image/png' } },
      config: { aspectRatio: '16:9', durationSeconds: 4, numberOfVideos: 1, personGeneration: 'allow_adult' },
    });
    for (let polls = 0; polls < 2; polls += 1) operation = await client.operations.getVideosOperation({ operation });
    expect(operation.done).toBe(true);
    expect(operation.response?.generatedVideos?.[0]?.video?.uri).toContain(':download?alt=media');
  });

  it.each([
    ['[fail=moderation]', MODEL],
    ['A', `${MODEL}!refuse=safety`],
  ])('are filtered without an error: %s %s', async (prompt, model) => {
    const { response, error } = await end(prompt, model);
    expect(error).toBeUndefined();
    expect(response.generateVideoResponse).toMatchObject({ raiMediaFilteredCount: 1 });
    expect(response.generateVideoResponse.raiMediaFilteredReasons).toHaveLength(1);
  });

  it('fail with a gRPC code, or are done with nothing in them', async () => {
    expect((await end('[fail=error]')).error.code).toBe(13);
    expect((await end('x', `${MODEL}!refuse=prompt`)).error.code).toBe(3);
    expect((await end('x', `${MODEL}!refuse=noimage`)).response.generateVideoResponse).toEqual({});
  });

  it('belong to the key that started them', async () => {
    const { name } = (await start()).body;
    expect((await poll(name, 'other')).error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    expect((await poll(name.replace('veo-3.1', 'veo-3.1-fast'))).error.code).toBe(404);
  });

  it.each([
    'fps',
    'seed',
    'generateAudio',
    'outputGcsUri',
    'mask',
    'compressionQuality',
    'resizeMode',
    'pubsubTopic',
    'labels',
  ])('refuse %s, which only Vertex takes', async (name) => {
    const { status, body } = await start({}, { [name]: 1 });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringContaining(`\`${name}\``) });
  });

  it.each<[object, object]>([
    [{}, { aspectRatio: '1:1' }],
    [{}, { durationSeconds: '8' }],
    [{}, { durationSeconds: 5 }],
    [{}, { resolution: '1080p', durationSeconds: 4 }],
    [{}, { resolution: '480p' }],
    [{}, { sampleCount: 2 }],
    [{ prompt: ' ' }, {}],
    [{ image: { imageBytes: PNG } }, {}],
    [{ image: { ...image, mimeType: 'image/jpeg' } }, {}],
    [{ lastFrame: image }, {}],
    [{ image, referenceImages: [reference] }, {}],
    [{ referenceImages: new Array(4).fill(reference) }, {}],
    [{ referenceImages: [{ image, referenceType: 'mood' }] }, {}],
  ])('refuse %#', async (instance, parameters) => {
    expect((await start(instance, parameters)).status).toBe(400);
  });

  it('take every documented field, and are offered by their models alone', async () => {
    const frames = { image, lastFrame: image };
    expect((await start(frames, { resolution: '4k', negativePrompt: 'text' })).status).toBe(200);
    expect((await start({ referenceImages: [reference] }, { personGeneration: 'allow_all' })).status).toBe(200);
    expect((await start({}, {}, 'gemini-3.6-flash')).status).toBe(404);
    const model = await poll(`models/${MODEL}`);
    expect(model.supportedGenerationMethods).toEqual(['predictLongRunning']);
  });

  it('have downloads that faults spoil', async () => {
    const done = await end('x [bytes=100000]');
    const { uri } = done.response.generateVideoResponse.generatedSamples[0].video;
    const download = () => fetch(uri, { headers: { 'x-goog-api-key': 'good' } });
    simulator.current.faults.add({ match: { path: '/download/' }, fault: { cutbody: 500 } });
    await expect((await download()).arrayBuffer()).rejects.toThrow();
    simulator.current.faults.clear();
    simulator.current.faults.add({ match: { path: '/files/' }, fault: { status: 503 } });
    expect((await download()).status).toBe(503);
  });
});
