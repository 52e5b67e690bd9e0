import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { boxesOf } from './boxes.ts';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator({ images: 'small' });
const base = (): string => `${simulator.current.url}/xai/v1`;
const basics = { model: 'grok-imagine-video', prompt: 'A kite over dunes' };
const start = (body: object = {}) => post(`${base()}/videos/generations`, { ...basics, ...body });
const poll = (id: string, key = 'sk-good'): Promise<Response> =>
  fetch(`${base()}/videos/${id}`, { headers: { authorization: `Bearer ${key}` } });
const PNG = createPictures('exact').draw({ format: 'png', width: 90, height: 160, seed: 'v' }).bytes;
const image = { url: `data:image/png;base64,${PNG.toString('base64')}` };

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, asserted field by field
const jsonOf = async (response: Response): Promise<any> => response.json();

/** What a task says at its end. */
async function end(body: { prompt?: string; model?: string; duration?: number }) {
  const { request_id: id } = (await start({ ...body, prompt: `${body.prompt ?? 'A kite'} [polls=1]` })).body;
  return jsonOf(await poll(id));
}

describe('xAI videos', () => {
  it('are pending with 202, first without a body, and done with an address that needs no credential', async () => {
    const { body } = await start({ prompt: 'A kite [polls=3] [bytes=150000]', duration: 6 });
    const first = await poll(body.request_id);
    expect([first.status, await first.text()]).toEqual([202, '']);
    const second = await poll(body.request_id);
    expect([second.status, await second.json()]).toEqual([202, { status: 'pending', progress: 66 }]);
    const done = await poll(body.request_id);
    expect(done.status).toBe(200);
    const result = await jsonOf(done);
    expect(result).toEqual({
      status: 'done',
      progress: 100,
      model: 'grok-imagine-video',
      video: { url: expect.stringContaining(simulator.current.url), duration: 6, respect_moderation: true },
      usage: { cost_in_usd_ticks: 3_000_000_000 },
    });
    const download = await fetch(result.video.url);
    expect(download.headers.get('content-type')).toBe('video/mp4');
    expect(download.headers.get('content-length')).toBe('150000');
    const file = Buffer.from(await download.arrayBuffer());
    expect(boxesOf(file).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
  });

  it('fail, expire and are blocked in xAI’s own forms', async () => {
    expect(await end({ prompt: '[fail=error]' })).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
    });
    expect(await end({ prompt: '[fail=expired]' })).toEqual({ status: 'expired' });
    const blocked = await end({ prompt: '[fail=moderation]' });
    expect(blocked).toMatchObject({ status: 'done', video: { respect_moderation: false } });
    expect(blocked.video.url).toBeUndefined();
    const rejected = { status: 'failed', error: { code: 'content_moderation' } };
    expect(await end({ model: 'grok-imagine-video!refuse=some' })).toMatchObject(rejected);
    expect(await end({ model: 'grok-imagine-video!refuse=noimage' })).not.toHaveProperty('video');
    const prompt = await start({ model: 'grok-imagine-video!refuse=prompt' });
    expect(prompt).toMatchObject({ status: 400, body: { code: 'imagine:content-moderated' } });
  });

  it('are refused while pending when a fault says so', async () => {
    const { request_id: id } = (await start({ prompt: 'x [polls=9]' })).body;
    simulator.current.faults.add({ match: { path: '/videos/rq-' }, fault: { refuse: 'safety' } });
    expect(await (await poll(id)).json()).toMatchObject({ video: { respect_moderation: false } });
    expect((await fetch(`${simulator.current.url}/xai/files/${id}.mp4`)).status).toBe(404);
  });

  it('belong to the key that started them', async () => {
    const { request_id: id } = (await start()).body;
    expect((await poll(id, 'other')).status).toBe(404);
    expect((await poll('rq-gone')).status).toBe(404);
  });

  it.each<object>([
    { size: '1280x720' },
    { n: 2 },
    { seconds: '4' },
    { duration: 0 },
    { duration: '6' },
    { duration: 16 },
    { aspect_ratio: '21:9' },
    { resolution: '1080p' },
    { last_frame: image },
    { image: 'https://x.test/a.png' },
    { image: { url: 'data:image/png;base64,AAAA' } },
    { image, reference_images: [image] },
    { model: 'grok-imagine-video-1.5', resolution: '1080p', reference_images: [image] },
    { prompt: '' },
  ])('refuse %j', async (body) => {
    const reply = await start(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toBeTypeOf('string');
  });

  it('take every documented field, frames on 1.5 alone', async () => {
    const model = 'grok-imagine-video-1.5';
    const keyframes = [{ image, timestamp_s: 1.5 }];
    expect((await start({ model, resolution: '1080p', image, last_frame: image, keyframes })).status).toBe(200);
    const audio = [{ url: 'https://x.test/a.mp3' }];
    expect((await start({ reference_images: [image], reference_audios: audio, resolution: '720p' })).status).toBe(200);
    expect((await start({ image, generate_audio: false, user: 'u', aspect_ratio: '9:16' })).status).toBe(200);
    expect((await start({ model: 'grok-imagine-image' })).status).toBe(404);
    const models = await fetch(`${base()}/models`, { headers: { authorization: 'Bearer k' } });
    expect((await jsonOf(models)).data.map(({ id }: { id: string }) => id)).toContain(model);
  });

  it('have files that faults spoil', async () => {
    const { video } = await end({ prompt: 'x [bytes=100000]' });
    simulator.current.faults.add({ match: { path: '/xai/files/' }, fault: { length: 'longer' } });
    await expect((await fetch(video.url)).arrayBuffer()).rejects.toThrow();
  });
});
