import { createHash } from 'node:crypto';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import type { Stack } from '../kit/stack.ts';
import { ask, available, create, ended, sdk, startVideoStack, until, videoModels } from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startVideoStack();
});
afterAll(() => stack.close());

const picture = (width: number, height: number) =>
  createPictures('exact').draw({ format: 'png', width, height, seed: 'r' }).bytes;

describe('4.1 POST /v1/videos', () => {
  it.each(videoModels)('with $model: submitted, polled, stored and fetched with the SDK', async (entry) => {
    const { model, channel, perSecond, standard } = entry;
    const before = await available(stack);
    const openai = sdk(stack);
    const video = await openai.videos.create({ model, prompt: 'A kite [polls=3][bytes=300000]' });
    expect(video).toMatchObject({ object: 'video', model, status: 'queued', progress: 0, error: null });
    expect(video).toMatchObject({ seconds: String(standard), completed_at: null, remixed_from_video_id: null });
    for (const key of ['size', 'expires_at', 'prompt', 'created_at', 'metadata']) expect(video).toHaveProperty(key);
    expect(await available(stack)).toBe(before - standard * perSecond);
    const done = await ended(stack, video.id);
    expect(done).toMatchObject({
      status: 'completed',
      progress: 100,
      error: null,
      metadata: { storage: { status: 'ready' } },
    });
    expect(await openai.videos.retrieve(video.id)).toMatchObject({ status: 'completed' });
    const content = await openai.videos.downloadContent(video.id);
    expect(content.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await content.arrayBuffer());
    expect(bytes.length).toBe(300_000);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(done.metadata.storage).toMatchObject({ bytes: 300_000, content_type: 'video/mp4', sha256, error: null });
    expect(Buffer.from(await (await fetch(done.metadata.url)).arrayBuffer()).equals(bytes)).toBe(true);
    const rows = (await stack.usage()).filter((row) => row.model === model);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      quota: standard * perSecond,
      seconds: standard,
      channel,
      outcome: 'ok',
      status: 200,
      endpoint: '/v1/videos',
    });
    expect(await available(stack)).toBe(before - standard * perSecond);
  });

  it('takes a form with a picture, and hands it to each vendor as that takes it', async () => {
    const openai = sdk(stack);
    const file = () => toFile(picture(1280, 720), 'kite.png', { type: 'image/png' });
    const ask = { prompt: 'A kite [polls=1]', seconds: '8', size: '1280x720' } as const;
    const sent: Record<string, unknown> = {};
    for (const { model, channel } of videoModels) {
      const { id } = await openai.videos.create({ ...ask, model, input_reference: await file() });
      await ended(stack, id);
      const posts = stack.simulator.received.filter(({ method }) => method === 'POST');
      sent[channel] = posts.at(-1)!.body;
    }
    const base64 = picture(1280, 720).toString('base64');
    expect(sent['simulated-openai']).toMatchObject({
      fields: { model: 'sora-2', seconds: '8', size: '1280x720', prompt: 'A kite [polls=1]' },
      files: [{ field: 'input_reference' }],
    });
    expect(sent['simulated-gemini']).toEqual({
      instances: [{ prompt: 'A kite [polls=1]', image: { bytesBase64Encoded: base64, mimeType: 'image/png' } }],
      parameters: { aspectRatio: '16:9', resolution: '720p', durationSeconds: 8, sampleCount: 1 },
    });
    expect(sent['simulated-xai']).toEqual({
      model: 'grok-imagine-video',
      prompt: 'A kite [polls=1]',
      duration: 8,
      aspect_ratio: '16:9',
      resolution: '720p',
      image: { url: `data:image/png;base64,${base64}` },
    });
  });

  it('takes the picture as a data URL in JSON and in a form, and its address where the vendor fetches it', async () => {
    const openai = sdk(stack);
    const image_url = `data:image/png;base64,${picture(1280, 720).toString('base64')}`;
    const json = await create(stack, { size: '1280x720', input_reference: { image_url } });
    expect(json.status, JSON.stringify(json.body)).toBe(200);
    const form = await openai.videos.create({
      model: 'demo-video',
      prompt: 'A kite',
      size: '1280x720',
      input_reference: { image_url },
    });
    expect(form.status).toBe('queued');
    const url = await create(stack, {
      model: 'demo-video-grok',
      input_reference: { image_url: 'https://ex.test/k.png' },
    });
    expect(url.status).toBe(200);
    expect(stack.simulator.received.findLast(({ method }) => method === 'POST')!.body).toMatchObject({
      image: { url: 'https://ex.test/k.png' },
    });
    const veo = await create(stack, {
      model: 'demo-video-veo',
      input_reference: { image_url: 'https://ex.test/k.png' },
    });
    expect(veo).toMatchObject({ status: 400, body: { error: { param: 'input_reference' } } });
    for (const { id } of [json.body, form, url.body]) await ended(stack, id);
  });

  it.each<[string, object, string, string]>([
    ['no prompt', { prompt: undefined }, 'prompt', 'missing_required_parameter'],
    ['an empty prompt', { prompt: ' ' }, 'prompt', 'invalid_value'],
    ['no model', { model: undefined }, 'model', 'missing_required_parameter'],
    ['an unknown model', { model: 'sora-9' }, 'model', 'model_not_found'],
    ['seconds that the family has not', { seconds: '5' }, 'seconds', 'invalid_value'],
    ['seconds that are none', { seconds: 'four' }, 'seconds', 'invalid_value'],
    ['seconds of another type', { seconds: [4] }, 'seconds', 'invalid_type'],
    ['two lengths', { seconds: '4', duration: 8 }, 'duration', 'conflicting_parameters'],
    ['a size that the model has not', { size: '1024x1792' }, 'size', 'invalid_value'],
    ['a size that is none', { model: 'demo-video-grok', size: 'big' }, 'size', 'invalid_value'],
    ['a size of another ratio', { size: '1280x720', aspect_ratio: '9:16' }, 'aspect_ratio', 'conflicting_parameters'],
    ['several videos', { n: 2 }, 'n', 'invalid_value'],
    ['several videos behind the back', { metadata: { n: 2 } }, 'n', 'invalid_value'],
    ['seconds behind the back', { metadata: { duration: 5 } }, 'seconds', 'invalid_value'],
    ['a size behind the back', { metadata: { width: 1024, height: 1792 } }, 'size', 'invalid_value'],
    ['references behind the back', { metadata: { image: 'file:///etc/passwd' } }, 'image', 'invalid_value'],
    ['a name in another case', { metadata: { Duration: 60 } }, 'Duration', 'unsupported_parameter'],
    ['another place', { metadata: { output: { upload_url: 'https://a.test' } } }, 'output', 'unsupported_parameter'],
    ['another listener', { callback_url: 'https://a.test' }, 'callback_url', 'unsupported_parameter'],
    [
      'a reference that is no image',
      { input_reference: 'data:image/png;base64,AAAA' },
      'input_reference',
      'invalid_value',
    ],
    ['a reference that is no URL', { input_reference: 'file:///etc/passwd' }, 'input_reference', 'invalid_value'],
    ['a file id', { input_reference: { file_id: 'f' } }, 'input_reference.file_id', 'unsupported_parameter'],
    ['too many references', { images: ['https://a.test/1', 'https://a.test/2'] }, 'input_reference', 'too_many_images'],
    ['a model for chat', { model: 'demo-chat' }, 'model', 'unsupported_endpoint'],
  ])('refuses %s before anything is held or sent', async (_what, json, param, code) => {
    const before = await available(stack);
    const sent = stack.simulator.received.length;
    const { status, body } = await create(stack, json);
    expect(body.error).toMatchObject({ param, code });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(await available(stack)).toBe(before);
    expect(stack.simulator.received.length).toBe(sent);
  });

  it('7 is refused with 429 where the balance does not cover it, and leaves no task', async () => {
    const key = await stack.createKey({ quota: 100 });
    const refused = await ask(stack, 'POST', '/videos', { key, json: { model: 'demo-video', prompt: 'A kite' } });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'insufficient_quota' } } });
    expect((await ask(stack, 'GET', '/videos?limit=100')).body.data.length).toBeGreaterThan(0);
  });

  it('is made once for one Idempotency-Key, as JSON and as a form', async () => {
    const json = JSON.stringify({ model: 'demo-video', prompt: 'Once' });
    const first = await stack.post('/videos', json, { 'idempotency-key': 'one' });
    const again = await stack.post('/videos', json, { 'idempotency-key': 'one' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const { id } = (await first.json()) as { id: string };
    expect(((await again.json()) as { id: string }).id).toBe(id);
    const send = (prompt: string) => {
      const body = new FormData();
      body.set('model', 'demo-video');
      body.set('prompt', prompt);
      const headers = { authorization: `Bearer ${stack.key}`, 'idempotency-key': 'two' };
      return fetch(`${stack.base}/videos`, { method: 'POST', headers, body });
    };
    const form = (await (await send('Twice')).json()) as { id: string };
    expect(((await (await send('Twice')).json()) as { id: string }).id).toBe(form.id);
    expect((await send('Thrice')).status).toBe(409);
    await ended(stack, id);
    await ended(stack, form.id);
  });
});

describe('4.1 POST /v1/video/generations', () => {
  it('8 what `metadata` says of a length is what is made and charged', async () => {
    const json = { model: 'demo-video-veo', prompt: 'A kite', metadata: { duration: '4', negative_prompt: 'blur' } };
    const { status, body } = await ask(stack, 'POST', '/video/generations', { json });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.seconds).toBe('4');
    expect(stack.simulator.received.findLast(({ method }) => method === 'POST')!.body).toMatchObject({
      parameters: { durationSeconds: 4, negativePrompt: 'blur' },
    });
    await ended(stack, body.id);
  });

  it('takes the words of older clients and answers flat', async () => {
    const json = {
      model: 'demo-video-grok',
      prompt: 'A kite [polls=1]',
      duration: 8,
      width: 1280,
      height: 720,
      metadata: { generate_audio: false, duration: 15, model: 'grok-imagine-video-1.5' },
    };
    const { status, body } = await ask(stack, 'POST', '/video/generations', { json });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ task_id: body.id, status: 'queued', url: null, seconds: '8' });
    expect(stack.simulator.received.findLast(({ method }) => method === 'POST')!.body).toMatchObject({
      generate_audio: false,
      duration: 8,
      model: 'grok-imagine-video',
      aspect_ratio: '16:9',
      resolution: '720p',
    });
    await ended(stack, body.id);
    const done = (await ask(stack, 'GET', `/video/generations/${body.id}`)).body;
    expect(done).toMatchObject({ task_id: body.id, status: 'completed', format: 'mp4', metadata: { duration: 8 } });
    expect((await fetch(done.url)).status).toBe(200);
    const row = (await stack.usage()).find(({ endpoint }) => endpoint === '/v1/video/generations');
    expect(row).toMatchObject({ seconds: 8, quota: 8 * 25_000 });
  });
});

describe('4.1 GET /v1/videos/{id}', () => {
  it('2.11 goes queued → in_progress → completed, and pending → storing → ready', async () => {
    stack.simulator.faults.add({ match: { path: '/content' }, fault: { latency: 400 } });
    const { body } = await create(stack, { prompt: 'A kite [polls=20]' });
    const seen = [`${body.status} ${body.metadata.storage.status}`];
    await until(stack, body.id, ({ status, progress, metadata }) => {
      const state = `${status} ${metadata.storage.status}`;
      if (seen.at(-1) !== state) seen.push(state);
      expect(progress).toBeGreaterThanOrEqual(0);
      return metadata.storage.status === 'ready';
    });
    stack.simulator.faults.clear();
    expect(seen).toEqual(['queued pending', 'in_progress pending', 'completed storing', 'completed ready']);
  });

  it('is 404 for another user, for another key of the same one, and for what never was', async () => {
    const { id } = (await create(stack, {})).body;
    const { accounts } = stack.gateway.ledger;
    const stranger = await accounts.createUser({ name: 'stranger' });
    await accounts.credit(stranger.id, 1_000_000, 'test');
    const { secret: key } = await accounts.createKey({ userId: stranger.id, name: 'k', group: 'default' });
    await ended(stack, id);
    for (const [method, path] of [
      ['GET', `/videos/${id}`],
      ['GET', `/videos/${id}/content`],
      ['DELETE', `/videos/${id}`],
      ['GET', `/video/generations/${id}`],
      ['GET', `/videos?after=${id}`],
    ] as const) {
      expect(await ask(stack, method, path, { key }), path).toMatchObject({
        status: 404,
        body: { error: { code: 'video_not_found' } },
      });
    }
    expect((await ask(stack, 'GET', '/videos', { key })).body.data).toEqual([]);
    const colleague = await stack.createKey();
    expect((await ask(stack, 'GET', `/videos/${id}`, { key: colleague })).status).toBe(404);
    expect((await ask(stack, 'GET', '/videos', { key: colleague })).body.data).toEqual([]);
    for (const wrong of ['video_0', '%00', 'video_%27%20OR%201=1', `video_${'0'.repeat(32)}`])
      expect((await ask(stack, 'GET', `/videos/${wrong}`)).status, wrong).toBe(404);
    expect((await ask(stack, 'GET', `/videos/${id}`, { key: 'sk-wrong' })).status).toBe(401);
  });
});

describe('4.1 GET /v1/videos/{id}/content', () => {
  it('is 409 with the status before the file is there, then 302 to a signed URL with the same bytes', async () => {
    stack.simulator.faults.add({ match: { path: '/content' }, fault: { latency: 400 } });
    const { id } = (await create(stack, { prompt: 'A kite [polls=10][bytes=70000]' })).body;
    const early = await ask(stack, 'GET', `/videos/${id}/content`);
    expect(early).toMatchObject({ status: 409, body: { error: { code: 'video_not_ready' } } });
    expect(early.body.error.message).toMatch(/`(queued|in_progress)`.*`pending`/);
    expect(early.headers.get('retry-after')).toBe('1');
    await until(stack, id, ({ metadata }) => metadata.storage.status === 'storing');
    expect((await ask(stack, 'GET', `/videos/${id}/content`)).body.error.message).toMatch(/`completed`.*`storing`/);
    await ended(stack, id);
    stack.simulator.faults.clear();
    const ready = await ask(stack, 'GET', `/videos/${id}/content`);
    expect(ready.status).toBe(302);
    const bytes = await (await fetch(ready.headers.get('location')!)).arrayBuffer();
    expect(bytes.byteLength).toBe(70_000);
    expect((await ask(stack, 'GET', `/videos/${id}/content?variant=thumbnail`)).status).toBe(400);
  });
});

describe('4.1 GET /v1/videos and DELETE /v1/videos/{id}', () => {
  it('lists page by page, newest first or oldest first', async () => {
    const openai = sdk(stack);
    const own: string[] = [];
    for (const index of [1, 2, 3]) own.push((await create(stack, { prompt: `Listed ${index} [polls=1]` })).body.id);
    const newest = await openai.videos.list({ limit: 2 });
    expect(newest.data.map(({ id }) => id)).toEqual([own[2], own[1]]);
    expect(newest.has_more).toBe(true);
    const all: string[] = [];
    for await (const { id } of openai.videos.list({ limit: 4, order: 'asc' })) all.push(id);
    expect(all.slice(-3)).toEqual(own);
    expect(new Set(all).size).toBe(all.length);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'order=up'])
      expect((await ask(stack, 'GET', `/videos?${query}`)).status, query).toBe(400);
    for (const id of own) await ended(stack, id);
  });

  it('deletes what has ended, with its file, and nothing that runs', async () => {
    const openai = sdk(stack);
    const { id } = (await create(stack, { prompt: 'A kite [polls=20]' })).body;
    expect(await ask(stack, 'DELETE', `/videos/${id}`)).toMatchObject({
      status: 409,
      body: { error: { code: 'video_not_finished' } },
    });
    const { metadata } = await ended(stack, id);
    expect(await openai.videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
    expect((await ask(stack, 'GET', `/videos/${id}`)).status).toBe(404);
    expect((await ask(stack, 'DELETE', `/videos/${id}`)).status).toBe(404);
    expect((await fetch(metadata.url)).status).toBe(404);
    const rows = await stack.usage();
    expect(rows.some(({ endpoint, quota }) => endpoint === '/v1/videos' && quota === 200_000)).toBe(true);
  });
});

describe('7 a client that leaves', () => {
  it('while its video is being submitted finds it in the list, made and charged once', async () => {
    const before = await available(stack);
    stack.simulator.faults.add({ match: { path: '/openai/v1/videos', times: 1 }, fault: { latency: 200 } });
    const body = JSON.stringify({ model: 'demo-video', prompt: 'Left alone [polls=1]' });
    const headers = { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' };
    const left = fetch(`${stack.base}/videos`, { method: 'POST', headers, body, signal: AbortSignal.timeout(80) });
    await expect(left).rejects.toThrow();
    const found = async () => (await ask(stack, 'GET', '/videos?limit=1')).body.data[0];
    while ((await found()).prompt !== 'Left alone [polls=1]') await new Promise((resolve) => setTimeout(resolve, 20));
    const { id } = await found();
    expect((await ended(stack, id)).metadata.storage.status).toBe('ready');
    expect(await available(stack)).toBe(before - 200_000);
    expect((await stack.usage())[0]).toMatchObject({ quota: 200_000, outcome: 'ok' });
  });
});
