import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { ask, available, create, ended, startVideoStack, until, videoModels } from './support.ts';

let stack: Stack;
let balance: number;
beforeAll(async () => {
  stack = await startVideoStack({
    edit: ({ gateway, channels }) => {
      gateway.videos.maximumBytes = '400kb';
      for (const name of ['simulated-openai', 'simulated-gemini', 'simulated-xai']) {
        channels.channels[name].timeouts = { connect: '1s', firstByte: '1s', idle: '400ms' };
        channels.channels[name].cooldown = { failures: 100, first: '10ms', longest: '20ms' };
      }
      channels.channels.spare = { ...channels.channels['simulated-openai'], credentials: ['sk-spare'], priority: 1 };
      channels.channels.spare.models = { 'demo-video': 'sora-2' };
    },
  });
});
afterAll(() => stack.close());
afterEach(() => stack.simulator.faults.clear());

const rowsOf = async () => (await stack.usage()).length;

/** Runs one task to its end; answers it, its usage row and what it cost the account. */
async function outcomeOf(json: object) {
  balance = await available(stack);
  const rows = await rowsOf();
  const created = await create(stack, json);
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  const video = await ended(stack, created.body.id);
  const usage = await stack.usage();
  expect(usage.length).toBe(rows + 1);
  return { video, row: usage[0]!, cost: balance - (await available(stack)) };
}

const pollPaths: Record<string, string> = {
  'demo-video': '/openai/v1/videos/',
  'demo-video-veo': '/operations/',
  'demo-video-grok': '/xai/v1/videos/rq-',
};
const filePaths: Record<string, string> = {
  'demo-video': '/content',
  'demo-video-veo': '/gemini/download/',
  'demo-video-grok': '/xai/files/',
};

describe('4.1 POST /v1/videos: a submission', () => {
  it.each<[string, object]>([
    ['503', { status: 503 }],
    ['429', { status: 429, retryAfter: 1 }],
    ['a refused credential', { status: 401 }],
  ])('goes to the next channel after %s', async (_what, fault) => {
    stack.simulator.faults.add({ match: { vendor: 'openai', path: '/videos', times: 1 }, fault });
    const { row, cost } = await outcomeOf({ prompt: 'A kite [polls=1]' });
    expect(row).toMatchObject({ channel: 'spare', attempts: 2, outcome: 'ok', quota: 200_000 });
    expect(cost).toBe(200_000);
  });

  it.each<[string, object, number, string]>([
    ['a reset', { reset: 'read' }, 502, 'upstream_unreachable'],
    ['a silence', { latency: 2500 }, 504, 'upstream_timeout'],
    ['a broken answer', { malformed: 0 }, 502, 'upstream_invalid_response'],
    ['an empty answer', { empty200: true }, 502, 'upstream_invalid_response'],
    ['a 504', { status: 504 }, 504, 'upstream_timeout'],
    ['a refused prompt', { refuse: 'prompt' }, 400, 'moderation_blocked'],
    ['a 400', { status: 400 }, 400, 'invalid_value'],
  ])('stops after %s: it could be made and charged twice', async (_what, fault, status, code) => {
    balance = await available(stack);
    const tasks = (await ask(stack, 'GET', '/videos?limit=100')).body.data.length;
    const posts = () => stack.simulator.received.filter(({ method }) => method === 'POST').length;
    const before = posts();
    stack.simulator.faults.add({ match: { vendor: 'openai', path: '/videos' }, fault });
    const answer = await create(stack, {});
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    if (code !== 'invalid_value') expect(answer.body.error.code).toBe(code);
    expect(posts()).toBe(before + 1);
    expect(await available(stack)).toBe(balance);
    expect((await stack.usage())[0]).toMatchObject({ quota: 0, outcome: 'error', status });
    expect((await ask(stack, 'GET', '/videos?limit=100')).body.data.length).toBe(tasks);
    expect(await stack.gateway.ledger.tasks.open()).toEqual([]);
  });

  it.each(['../../../secret', 'a/../b', '', 'x'.repeat(400), 'a?b', 'a b'])(
    'refuses the id %j of a vendor',
    async (id) => {
      const { decodeCreated } = await import('../../plugins/protocols/openai-videos/decode-state.ts');
      expect(() => decodeCreated({ id })).toThrow(/no usable id/);
    },
  );
});

describe.each(videoModels)('4.1 GET /v1/videos/{id}: polling $model', ({ model, perSecond, standard }) => {
  const full = perSecond * standard;

  it.each<[string, object]>([
    ['500', { status: 500 }],
    ['429', { status: 429 }],
    ['401', { status: 401 }],
    ['a 404 that passes', { status: 404 }],
    ['broken JSON', { malformed: 0 }],
    ['an HTML page', { wrongtype: true }],
    ['a cut', { cut: 0 }],
    ['a reset', { reset: 'read' }],
    ['a silence', { stall: 0 }],
  ])('goes on after %s, and charges once', async (_what, fault) => {
    stack.simulator.faults.add({ match: { path: pollPaths[model]!, times: 2 }, fault });
    const { video, row, cost } = await outcomeOf({ model, prompt: 'A kite [polls=2]' });
    expect(video).toMatchObject({ status: 'completed', metadata: { storage: { status: 'ready' } } });
    expect(row).toMatchObject({ quota: full, outcome: 'ok', code: null });
    expect(cost).toBe(full);
  });

  it.each<[string, string]>([
    ['[fail=moderation]', 'moderation_blocked'],
    ['[fail=error]', 'video_generation_failed'],
  ])('fails with what the vendor says: %s', async (steering, code) => {
    const { video, row, cost } = await outcomeOf({ model, prompt: `A kite [polls=2] ${steering}` });
    expect(video).toMatchObject({
      status: 'failed',
      error: { code },
      metadata: { url: null, storage: { status: 'failed' } },
    });
    expect(video.error.message.length).toBeGreaterThan(10);
    expect(row).toMatchObject({ quota: 0, outcome: 'error', code, seconds: 0 });
    expect(cost).toBe(0);
    expect((await ask(stack, 'GET', `/videos/${video.id}/content`)).status).toBe(409);
    expect((await ask(stack, 'DELETE', `/videos/${video.id}`)).status).toBe(200);
  });

  it('fails when the vendor no longer knows it', async () => {
    stack.simulator.faults.add({ match: { path: pollPaths[model]! }, fault: { status: 404 } });
    const { video, row, cost } = await outcomeOf({ model, prompt: 'A kite [polls=2]' });
    expect(video).toMatchObject({ status: 'failed', error: { code: 'vendor_refused_request' } });
    expect(row).toMatchObject({ quota: 0, outcome: 'error', status: 400 });
    expect(cost).toBe(0);
  });
});

describe('2.11 an expired video', () => {
  it.each(['demo-video-veo', 'demo-video-grok'])('of %s fails and costs nothing', async (model) => {
    const { video, cost } = await outcomeOf({ model, prompt: 'A kite [polls=2][fail=expired]' });
    expect(video).toMatchObject({ status: 'failed', error: { code: 'video_expired' } });
    expect(cost).toBe(0);
  });
});

it('7 Retry-After of a poll is obeyed', async () => {
  stack.simulator.faults.add({
    match: { path: pollPaths['demo-video']!, times: 1 },
    fault: { status: 429, retryAfter: 1 },
  });
  const start = performance.now();
  const { video } = await outcomeOf({ prompt: 'A kite [polls=1]' });
  expect(video.status).toBe('completed');
  expect(performance.now() - start).toBeGreaterThan(1000);
});

describe.each(videoModels)('2.11 fetching the file of $model', ({ model, perSecond, standard }) => {
  const full = perSecond * standard;
  const prompt = 'A kite [polls=1][bytes=200000]';

  it.each<[string, object]>([
    ['is cut', { cut: 0 }],
    ['is cut after some bytes', { cutbody: 100 }],
    ['falls silent', { stall: 0 }],
    ['is shorter than announced', { length: 'longer' }],
    ['is longer than announced', { length: 'shorter' }],
    ['is not there yet', { status: 404 }],
    ['is a page', { wrongtype: true }],
    ['is empty', { empty200: true }],
    ['is reset', { reset: 'read' }],
  ])('goes on where it %s, and charges once', async (_what, fault) => {
    stack.simulator.faults.add({ match: { path: filePaths[model]!, times: 1 }, fault });
    const { video, row, cost } = await outcomeOf({ model, prompt });
    expect(video).toMatchObject({ status: 'completed', metadata: { storage: { status: 'ready', bytes: 200_000 } } });
    expect(row).toMatchObject({ quota: full, outcome: 'ok' });
    expect(cost).toBe(full);
  });

  it.each<[string, object, string]>([
    ['never comes whole', { cut: 0 }, prompt],
    ['is no video', { wrongtype: true }, prompt],
    ['is gone', { status: 410 }, prompt],
    ['is larger than allowed', { latency: 0 }, 'A kite [polls=1][bytes=500000]'],
  ])('gives the file up where it %s: the task stays completed and costs nothing', async (_what, fault, text) => {
    stack.simulator.faults.add({ match: { path: filePaths[model]! }, fault });
    const { video, row, cost } = await outcomeOf({ model, prompt: text });
    expect(video).toMatchObject({ status: 'completed', error: null, metadata: { url: null } });
    expect(video.metadata.storage).toMatchObject({ status: 'failed', bytes: null });
    expect(video.metadata.storage.error).toMatch(/Nothing was charged/);
    expect(row).toMatchObject({ quota: 0, outcome: 'error', code: 'storage_failed', status: 502 });
    expect(cost).toBe(0);
    const content = await ask(stack, 'GET', `/videos/${video.id}/content`);
    expect(content).toMatchObject({ status: 409, body: { error: { code: 'video_not_ready' } } });
    expect(content.headers.get('retry-after')).toBeNull();
  });
});

describe('2.11 a store that fails', () => {
  const incoming = () => join(stack.data, 'objects', '.incoming');

  /** As on a full disk: nothing can be written there. */
  async function withoutStore(run: () => Promise<void>): Promise<void> {
    await rename(incoming(), `${incoming()}-away`);
    await writeFile(incoming(), '');
    try {
      await run();
    } finally {
      await rename(`${incoming()}-away`, `${incoming()}-back`);
      await (await import('node:fs/promises')).rm(incoming());
      await rename(`${incoming()}-back`, incoming());
    }
  }

  it('is tried again until it works', async () => {
    balance = await available(stack);
    let id = '';
    await withoutStore(async () => {
      id = (await create(stack, { prompt: 'A kite [polls=1]' })).body.id;
      await until(stack, id, ({ status }) => status === 'completed');
    });
    const video = await ended(stack, id);
    expect(video.metadata.storage.status).toBe('ready');
    expect(balance - (await available(stack))).toBe(200_000);
  });

  it('is given up after the last attempt, and costs nothing', async () => {
    await withoutStore(async () => {
      const { video, cost } = await outcomeOf({ prompt: 'A kite [polls=1]' });
      expect(video).toMatchObject({ status: 'completed', metadata: { storage: { status: 'failed' } } });
      expect(cost).toBe(0);
    });
  });
});

it('7 the account balances, and no hold is left', async () => {
  expect(await stack.gateway.ledger.tasks.open()).toEqual([]);
  const audit = await stack.gateway.ledger.accounts.audit();
  expect(audit).toMatchObject({ ok: true, faults: [] });
  expect(await available(stack)).toBe(audit.accounts[0]!.balance);
});
