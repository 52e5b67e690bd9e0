/** kill -9 of a real process at each step of a task, and what the next one makes of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../engine/config/index.ts';
import { type Accounts, openAccounts } from '../../engine/ledger/index.ts';
import { openDatabase } from '../../engine/ledger/sqlite.ts';
import { type Simulator, startSimulator } from '../../simulator/index.ts';
import { type Body, fastVideos, isOver } from './support.ts';

let simulator: Simulator;
let folder: string;
let data: string;
let secret: string;
const children = new Set<ChildProcess>();

/** 4 seconds at 0.10 USD. */
const price = 200_000;

beforeEach(async () => {
  simulator = await startSimulator();
  folder = await mkdtemp(join(tmpdir(), 'video-kill-'));
  data = join(folder, 'data');
  for (const name of ['models', 'routes'])
    await copyFile(join(packageRoot(), `${name}.yaml`), join(folder, `${name}.yaml`));
  const channels = parse(await readFile(join(packageRoot(), 'channels.yaml'), 'utf8'));
  delete channels.channels['simulated-openai-spare'];
  await writeFile(join(folder, 'channels.yaml'), stringify(channels));
  await writeFile(
    join(folder, 'gateway.yaml'),
    stringify({ videos: { ...fastVideos, deadline: '5m' }, log: { level: 'info' } }),
  );
  const accounts = await openAccounts(data);
  const user = await accounts.createUser({ name: 'tester' });
  await accounts.credit(user.id, 1_000_000_000, 'test');
  secret = (await accounts.createKey({ userId: user.id, name: 'one', group: 'default' })).secret;
  await accounts.close();
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

interface Life {
  readonly child: ChildProcess;
  readonly base: string;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The built gateway as a process of its own; answers when it is ready. */
async function serve(): Promise<Life> {
  const child = spawn(
    process.execPath,
    [join(packageRoot(), 'dist/engine/main.js'), 'serve', '--config', folder, '--data', data, '--port', '0'],
    { env: { ...process.env, SIMULATOR_URL: simulator.url }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  children.add(child);
  const ended = once(child, 'exit').finally(() => children.delete(child));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  for await (const line of createInterface({ input: child.stderr! })) {
    const entry = JSON.parse(line) as { msg: string; address?: string };
    if (entry.msg !== 'ready') continue;
    child.stderr?.resume();
    return { child, base: `${entry.address}/v1`, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
  }
  throw new Error('the gateway ended before it was ready');
}

const headers = () => ({ authorization: `Bearer ${secret}`, 'content-type': 'application/json' });

const submit = (base: string, prompt: string, model = 'demo-video'): Promise<Response> =>
  fetch(`${base}/videos`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({ model, prompt }),
  });

async function created(base: string, prompt: string, model?: string): Promise<string> {
  const response = await submit(base, prompt, model);
  const body = (await response.json()) as Body;
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body.id;
}

const listed = async (base: string): Promise<Body[]> =>
  ((await (await fetch(`${base}/videos?limit=100`, { headers: headers() })).json()) as Body).data;

async function over(base: string, id: string): Promise<Body> {
  for (const end = Date.now() + 20_000; ; ) {
    const body = (await (await fetch(`${base}/videos/${id}`, { headers: headers() })).json()) as Body;
    if (isOver(body)) return body;
    if (Date.now() > end) throw new Error(JSON.stringify(body));
    await delay(20);
  }
}

async function happens(what: () => boolean): Promise<void> {
  for (const end = Date.now() + 15_000; !what(); ) {
    if (Date.now() > end) throw new Error('it did not happen');
    await delay(5);
  }
}

const asked = (method: string, part: string) =>
  simulator.received.filter((request) => request.method === method && request.path.includes(part)).length;

/** What the books say once the gateway has stopped. */
async function books(): Promise<{ rows: Awaited<ReturnType<Accounts['usage']>>; balance: number }> {
  const accounts = await openAccounts(data);
  try {
    const audit = await accounts.audit();
    expect(audit).toMatchObject({ ok: true, faults: [], pending: { requests: 0 } });
    return { rows: await accounts.usage({ limit: 1000 }), balance: audit.accounts[0]!.balance };
  } finally {
    await accounts.close();
  }
}

/** Puts a row back to where a crash at a moment too short to hit would have left it. */
async function rewind(id: string, columns: object): Promise<void> {
  const database = await openDatabase(join(data, 'gateway.db'), { busyTimeout: 5000, autoCheckpoint: 1000 });
  await database.query.updateTable('tasks').set(columns).where('id', '=', id).execute();
  await database.close();
}

async function storedVideos(): Promise<string[]> {
  const names = await readdir(join(data, 'objects', 'videos'), { recursive: true });
  return names.filter((name) => name.endsWith('.mp4'));
}

async function expectChargedOnce(base: string, id: string): Promise<void> {
  const video = await over(base, id);
  expect(video).toMatchObject({ status: 'completed', metadata: { storage: { status: 'ready' } } });
  expect((await fetch(video.metadata.url)).status).toBe(200);
}

describe('kill -9', () => {
  it('while the vendor is asked: nothing is charged, and no task is left', async () => {
    const first = await serve();
    simulator.faults.add({ match: { path: '/videos' }, fault: { latency: 3000 } });
    const lost = submit(first.base, 'A kite').catch(() => null);
    await happens(() => asked('POST', '/openai/v1/videos') === 1);
    await first.kill();
    expect(await lost).toBeNull();
    const second = await serve();
    expect(await listed(second.base)).toEqual([]);
    await delay(1200);
    await second.stop();
    const { rows, balance } = await books();
    expect(rows).toMatchObject([{ quota: 0, outcome: 'error', code: 'interrupted', channel: null }]);
    expect(balance).toBe(1_000_000_000);
  });

  it('after the answer, while the vendor is polled and while the file is fetched: each is charged once', async () => {
    simulator.faults.add({ match: { path: '/openai/v1/videos/' }, fault: { latency: 5000 } });
    simulator.faults.add({ match: { path: '/xai/files/' }, fault: { stall: 0 } });
    const first = await serve();
    const waiting = await created(first.base, 'A kite [polls=30]', 'demo-video-veo');
    const polled = await created(first.base, 'A kite [polls=2]');
    const fetched = await created(first.base, 'A kite [polls=1][bytes=500000]', 'demo-video-grok');
    await happens(() => asked('GET', '/openai/v1/videos/') > 0 && asked('GET', '/xai/files/') > 0);
    await delay(50);
    await first.kill();
    expect(await readdir(join(data, 'incoming-videos'))).toHaveLength(1);
    simulator.faults.clear();
    const second = await serve();
    for (const id of [waiting, polled, fetched]) await expectChargedOnce(second.base, id);
    expect(await readdir(join(data, 'incoming-videos'))).toEqual([]);
    await second.stop();
    const { rows, balance } = await books();
    const charges = Object.fromEntries(rows.map(({ model, quota }) => [model, quota]));
    expect(rows).toHaveLength(3);
    expect(charges).toEqual({ 'demo-video': price, 'demo-video-veo': 8 * price, 'demo-video-grok': 150_000 });
    expect(balance).toBe(1_000_000_000 - 9 * price - 150_000);
  });

  it('between the vendor’s end, the stored file, the charge and its mark: each is charged or released once', async () => {
    const first = await serve();
    const unkept = await created(first.base, 'A kite [polls=1]');
    const unmarked = await created(first.base, 'A kite [polls=1]');
    const failed = await created(first.base, 'A kite [polls=1][fail=error]');
    await expectChargedOnce(first.base, unkept);
    await expectChargedOnce(first.base, unmarked);
    expect(await over(first.base, failed)).toMatchObject({ status: 'failed' });
    await first.kill();
    const lease = { open: 1, due_at: 0, lease_owner: 'dead', lease_until: Date.now() + 300 };
    await rewind(unkept, { ...lease, storage: 'storing', ending: null, object_key: null });
    await rewind(unmarked, { ...lease, storage: 'storing' });
    await rewind(failed, { ...lease, status: 'in_progress', storage: 'pending' });
    const second = await serve();
    await expectChargedOnce(second.base, unkept);
    await expectChargedOnce(second.base, unmarked);
    expect(await over(second.base, failed)).toMatchObject({ status: 'failed' });
    await second.stop();
    // The file that no row named yet was stored again under its own name.
    expect(await storedVideos()).toHaveLength(2);
    const { rows, balance } = await books();
    expect(rows.map(({ quota }) => quota).sort()).toEqual([0, price, price]);
    expect(balance).toBe(1_000_000_000 - 2 * price);
  });

  it('between the deletion of a file whose retention is over and that of its row: the row goes too', async () => {
    const first = await serve();
    const [halfGone, whole] = [
      await created(first.base, 'A kite [polls=1]'),
      await created(first.base, 'A kite [polls=1]'),
    ];
    for (const id of [halfGone, whole]) await expectChargedOnce(first.base, id);
    await first.kill();
    const old = { completed_at: Date.now() - 3_600_000 };
    await rewind(halfGone, { ...old, lease_owner: 'dead', lease_until: Date.now() });
    await rewind(whole, old);
    const [name] = (await storedVideos()).filter((file) => file.includes(halfGone.slice('video_'.length)));
    await rm(join(data, 'objects', 'videos', name!));
    const settings = { videos: { ...fastVideos, retention: '1m' }, log: { level: 'info' } };
    await writeFile(join(folder, 'gateway.yaml'), stringify(settings));
    const second = await serve();
    for (const end = Date.now() + 10_000; (await listed(second.base)).length > 0; await delay(20))
      if (Date.now() > end) throw new Error('the tasks are still there');
    await second.stop();
    expect(await storedVideos()).toEqual([]);
    const { rows, balance } = await books();
    expect(rows.map(({ quota }) => quota)).toEqual([price, price]);
    expect(balance).toBe(1_000_000_000 - 2 * price);
  });

  it('at any moment under load: every task that was answered comes to its end and is charged once', async () => {
    const answered: string[] = [];
    const load = async (base: string) => {
      for (let index = 0; ; index++) {
        try {
          const response = await submit(base, `A kite [polls=${1 + (index % 4)}][bytes=${5000 + index}]`);
          const body = (await response.json()) as Body;
          expect(response.status, JSON.stringify(body)).toBe(200);
          answered.push(body.id);
        } catch (error) {
          // Killed: fetch throws a TypeError. Anything else is a fault of the test.
          if (error instanceof TypeError) return;
          throw error;
        }
        await delay(5);
      }
    };
    for (const enough of [12, 40]) {
      const { base, kill } = await serve();
      const loads = [load(base), load(base), load(base)];
      await happens(() => answered.length >= enough);
      await kill();
      await Promise.all(loads);
    }
    const last = await serve();
    for (const id of answered) await expectChargedOnce(last.base, id);
    // What was being submitted when a process died comes to its end too.
    await delay(700);
    await last.stop();
    const { rows, balance } = await books();
    const charged = rows.filter(({ quota }) => quota > 0);
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(rows.length);
    // One that was accepted, but whose answer was lost with the process, is a task all the same.
    expect(charged.length).toBeGreaterThanOrEqual(answered.length);
    expect(charged.length).toBeLessThanOrEqual(answered.length + 6);
    expect(charged.every(({ quota }) => quota === price)).toBe(true);
    expect(balance).toBe(1_000_000_000 - price * charged.length);
  }, 60_000);
});
