import { createHash } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { encodeMp4 } from '../../simulator/videos/mp4.ts';
import { boxesOf } from './boxes.ts';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/openai/v1`;
const client = (apiKey = 'sk-good'): OpenAI => new OpenAI({ apiKey, baseURL: base(), maxRetries: 0 });
const create = (body: object) => post(`${base()}/videos`, { prompt: 'A kite', ...body });
const get = (path: string): Promise<Response> =>
  fetch(`${base()}/videos/${path}`, { headers: { authorization: 'Bearer sk-good' } });
const picture = (width: number, height: number): Buffer =>
  createPictures('exact').draw({ format: 'png', width, height, seed: 'r' }).bytes;

/** Creates a video and polls it to its end. */
async function finish(body: object): Promise<string> {
  const { id } = (await create({ ...body, prompt: `A kite [polls=1] ${'prompt' in body ? body.prompt : ''}` })).body;
  await get(id);
  return id;
}

describe('the MP4 file', () => {
  it('has the asked size and boxes whose sample table points at the picture', () => {
    const frame = createPictures('exact').draw({ format: 'jpeg', width: 320, height: 180, seed: 'x' }).bytes;
    const file = Buffer.concat(encodeMp4({ width: 320, height: 180, seconds: 4, frame, bytes: 3_000_000 }));
    expect(file).toHaveLength(3_000_000);
    const boxes = boxesOf(file);
    expect(boxes.map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
    const find = (...path: string[]) =>
      path.reduce<Buffer>((parent, type) => boxesOf(parent).find((box) => box.type === type)!.content, file);
    const table = (type: string): Buffer => find('moov', 'trak', 'mdia', 'minf', 'stbl', type);
    expect(table('stsz').readUInt32BE(4)).toBe(frame.length);
    const offset = table('stco').readUInt32BE(8);
    expect(file.subarray(offset, offset + frame.length).equals(frame)).toBe(true);
    expect(find('moov', 'mvhd').readUInt32BE(16)).toBe(4000);
  });

  it('is as small as it can be where no size is asked', () => {
    const frame = Buffer.alloc(500);
    expect(Buffer.concat(encodeMp4({ width: 16, height: 16, seconds: 8, frame })).length).toBeLessThan(1500);
  });
});

describe('OpenAI videos', () => {
  it('go from queued over in_progress to completed, a step each poll', async () => {
    const video = await client().videos.create({
      prompt: 'A kite [polls=3]',
      model: 'sora-2-pro',
      seconds: '8',
      size: '1792x1024',
    });
    expect(video).toMatchObject({ object: 'video', model: 'sora-2-pro', status: 'queued', progress: 0, error: null });
    expect(video).toMatchObject({ seconds: '8', size: '1792x1024', prompt: 'A kite [polls=3]', completed_at: null });
    expect((await get(`${video.id}/content`)).status).toBe(404);
    expect(await client().videos.retrieve(video.id)).toMatchObject({ status: 'in_progress', progress: 33 });
    expect(await client().videos.retrieve(video.id)).toMatchObject({ status: 'in_progress', progress: 66 });
    const done = await client().videos.retrieve(video.id);
    expect(done).toMatchObject({ status: 'completed', progress: 100, error: null });
    expect(done.expires_at).toBe(done.completed_at! + 3600);
  });

  it('are a file with its length, or a picture of it', async () => {
    const id = await finish({ prompt: '[bytes=2500000]' });
    const response = await client().videos.downloadContent(id);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('content-length')).toBe('2500000');
    const file = Buffer.from(await response.arrayBuffer());
    expect(boxesOf(file).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
    const again = Buffer.from(await (await get(`${id}/content`)).arrayBuffer());
    const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(sum(again)).toBe(sum(file));
    expect((await get(`${id}/content?variant=thumbnail`)).headers.get('content-type')).toBe('image/webp');
    expect((await get(`${id}/content?variant=spritesheet`)).headers.get('content-type')).toBe('image/jpeg');
    expect((await get(`${id}/content?variant=gif`)).status).toBe(400);
  });

  it('take a reference of the video’s size, as a file or by URL', async () => {
    const ask = { prompt: 'A kite', size: '1280x720' as const };
    const file = await toFile(picture(1280, 720), 'a.png', { type: 'image/png' });
    expect(await client().videos.create({ ...ask, input_reference: file })).toMatchObject({ status: 'queued' });
    const url = `data:image/png;base64,${picture(1280, 720).toString('base64')}`;
    expect((await create({ ...ask, input_reference: { image_url: url } })).status).toBe(200);
    expect(await client().videos.create({ ...ask, input_reference: { image_url: url } })).toMatchObject({
      size: '1280x720',
    });
    const small = await toFile(picture(64, 64), 'a.png', { type: 'image/png' });
    await expect(client().videos.create({ ...ask, input_reference: small })).rejects.toMatchObject({
      status: 400,
      param: 'input_reference',
    });
  });

  it('are listed newest first by page, remixed when done, and deleted', async () => {
    const key = 'sk-list';
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1)
      ids.unshift((await client(key).videos.create({ prompt: `Kite ${index} [polls=1]` })).id);
    const page = await client(key).videos.list({ limit: 2 });
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page.has_more).toBe(true);
    const all: string[] = [];
    for await (const { id } of client(key).videos.list({ limit: 2, order: 'asc' })) all.push(id);
    expect(all).toEqual(ids.toReversed());
    const early = client(key).videos.remix(ids[0]!, { prompt: 'Red' });
    await expect(early).rejects.toMatchObject({ status: 409 });
    await client(key).videos.retrieve(ids[0]!);
    expect(await client(key).videos.remix(ids[0]!, { prompt: 'Red' })).toMatchObject({ remixed_from_video_id: ids[0] });
    expect(await client(key).videos.delete(ids[0]!)).toEqual({ id: ids[0], object: 'video.deleted', deleted: true });
    await expect(client(key).videos.retrieve(ids[0]!)).rejects.toMatchObject({ status: 404 });
    await expect(client('sk-stranger').videos.retrieve(ids[1]!)).rejects.toMatchObject({ status: 404 });
  });

  it.each<[object, string, string]>([
    [{ prompt: undefined }, 'prompt', 'missing_required_parameter'],
    [{ seconds: 8 }, 'seconds', 'invalid_type'],
    [{ seconds: '5' }, 'seconds', 'invalid_value'],
    [{ size: '1024x1024' }, 'size', 'invalid_value'],
    [{ size: '1792x1024', model: 'sora-2' }, 'size', 'invalid_value'],
    [{ model: 'gpt-5.5' }, 'model', 'invalid_value'],
    [{ n: 2 }, 'n', 'unknown_parameter'],
    [{ input_reference: { image_url: 'x' } }, 'input_reference', 'invalid_value'],
    [{ input_reference: {} }, 'input_reference', 'invalid_value'],
  ])('refuse %j', async (body, param, code) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { error: { param, code } } });
  });

  it('fail when steered so, or refused by a fault at creation or at a poll', async () => {
    const blocked = { status: 'failed', error: { code: 'moderation_blocked' } };
    const end = async (id: string) => (await get(id)).json();
    expect(await end(await finish({ prompt: '[fail=moderation]' }))).toMatchObject(blocked);
    const broken = await finish({ prompt: '[fail=error]' });
    expect(await end(broken)).toMatchObject({ status: 'failed', error: { code: 'video_generation_failed' } });
    expect((await get(`${broken}/content`)).status).toBe(404);
    expect(await end(await finish({ model: 'sora-2!refuse=safety' }))).toMatchObject(blocked);
    const prompt = await create({ model: 'sora-2!refuse=prompt' });
    expect(prompt).toMatchObject({ status: 400, body: { error: { code: 'moderation_blocked' } } });
    const late = (await create({ prompt: 'Late [polls=9]' })).body.id;
    simulator.current.faults.add({ match: { path: `/videos/${late}` }, fault: { refuse: 'safety' } });
    expect(await end(late)).toMatchObject(blocked);
  });
});

describe('faults of a download', () => {
  const download = async (fault: object, signal?: AbortSignal) => {
    const id = await finish({ prompt: '[bytes=300000]' });
    simulator.current.faults.add({ match: { path: '/content' }, fault });
    const response = await fetch(`${base()}/videos/${id}/content`, {
      headers: { authorization: 'Bearer sk-good' },
      ...(signal ? { signal } : {}),
    });
    return response;
  };

  it('cut it, or announce another length than is sent', async () => {
    const cut = await download({ cutbody: 1000 });
    expect(cut.headers.get('content-length')).toBe('300000');
    await expect(cut.arrayBuffer()).rejects.toThrow();
    const longer = await download({ cutbody: 0, length: 'longer' });
    await expect(longer.arrayBuffer()).rejects.toThrow();
  });

  it('answer an error instead', async () => {
    const failed = await download({ status: 503, retryAfter: 2 });
    expect(failed.status).toBe(503);
    expect(failed.headers.get('retry-after')).toBe('2');
    expect(await failed.json()).toMatchObject({ error: { code: 'server_is_overloaded' } });
  });

  it('fall silent in the middle until the client leaves', async () => {
    const patience = new AbortController();
    const response = await download({ stall: 1 }, patience.signal);
    const reader = response.body!.getReader();
    let received = 0;
    while (received < 150_000) received += (await reader.read()).value!.length;
    const next = reader.read().then(
      () => 'more',
      () => 'aborted',
    );
    expect(await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 50, 'silent'))])).toBe('silent');
    patience.abort();
    expect(await next).toBe('aborted');
  });
});
