import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LedgerDatabase, openDatabase } from '../../engine/ledger/sqlite.ts';
import { silentLog } from '../../engine/observe/log.ts';
import { Poller } from '../../engine/tasks/poller.ts';
import { createTaskStore } from '../../engine/tasks/store.ts';
import type { TaskOrigin, TaskStore, VideoTask } from '../../engine/tasks/task.ts';
import { originOf, place, settings } from './tasks.ts';

let folder: string;
let databases: LedgerDatabase[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-leases-'));
  databases = [];
});
afterEach(async () => {
  for (const database of databases) await database.close();
  await rm(folder, { recursive: true, force: true });
});

/** A gateway's own connection to the one database. */
async function connect(): Promise<TaskStore> {
  const database = await openDatabase(join(folder, 'gateway.db'), { busyTimeout: 2, autoCheckpoint: 1000 });
  databases.push(database);
  return createTaskStore(database);
}

async function addTask(store: TaskStore, index: number, over: Partial<TaskOrigin> = {}): Promise<string> {
  const origin = originOf(index, over);
  expect(await store.insert(origin, 'submitter', Date.now() + 1000, 100)).toBe(true);
  expect(await store.save(origin.id, 'submitter', { place }, true)).toBe(true);
  return origin.id;
}

const startPoller = (store: TaskStore, owner: string, run: (task: VideoTask, signal: AbortSignal) => Promise<void>) => {
  const poller = new Poller({ store, owner, settings: () => settings, now: Date.now, log: silentLog, run });
  poller.start();
  return poller;
};

describe('two gateways on one database', () => {
  it('never work on one task at the same time, and both work', async () => {
    const stores = [await connect(), await connect()];
    const ids: string[] = [];
    for (let index = 0; index < 30; index++) ids.push(await addTask(stores[0]!, index));
    const running = new Set<string>();
    const worked = new Map<string, string[]>();
    const overlaps: string[] = [];
    const pollers = stores.map((store, index) =>
      startPoller(store, `gateway-${index}`, async (task) => {
        if (running.has(task.id)) overlaps.push(task.id);
        running.add(task.id);
        worked.set(task.id, [...(worked.get(task.id) ?? []), `gateway-${index}`]);
        await delay(5 + Math.random() * 10);
        running.delete(task.id);
        const again = (worked.get(task.id)?.length ?? 0) < 10;
        const changes = again ? { dueAt: Date.now() + 5 } : { open: false };
        expect(await store.save(task.id, `gateway-${index}`, changes, true)).toBe(true);
      }),
    );
    const end = Date.now() + 15_000;
    while ((await stores[0]!.open()).length > 0 && Date.now() < end) await delay(20);
    for (const poller of pollers) await poller.close(0);
    expect(overlaps).toEqual([]);
    expect([...worked.values()].map((turns) => turns.length)).toEqual(ids.map(() => 10));
    expect(new Set([...worked.values()].flat()).size).toBe(2);
  }, 20_000);

  it('take over from one that died when its lease has ended, and not before', async () => {
    const [dead, living] = [await connect(), await connect()];
    const id = await addTask(dead, 1);
    const until = Date.now() + 300;
    expect(await dead.take('dead', Date.now(), until, 5)).toHaveLength(1);
    const taken: number[] = [];
    const poller = startPoller(living, 'living', async (task) => {
      taken.push(Date.now());
      await living.save(task.id, 'living', { open: false }, true);
    });
    while (taken.length === 0) await delay(10);
    await poller.close(0);
    expect(taken[0]).toBeGreaterThanOrEqual(until);
    expect(taken).toHaveLength(1);
    // What the dead one had still to say counts no more.
    expect(await dead.save(id, 'dead', { status: 'failed' }, true)).toBe(false);
    expect(await living.find(id, 1)).toMatchObject({ status: 'queued', open: false });
  });

  it('keep the lease of a step that takes longer than the lease', async () => {
    const [one, other] = [await connect(), await connect()];
    await addTask(one, 1);
    let runs = 0;
    const work = (store: TaskStore, owner: string) => async (task: VideoTask) => {
      runs++;
      await delay(2200);
      expect(await store.save(task.id, owner, { open: false }, true)).toBe(true);
    };
    const pollers = [startPoller(one, 'one', work(one, 'one')), startPoller(other, 'other', work(other, 'other'))];
    await delay(2600);
    for (const poller of pollers) await poller.close(0);
    expect(runs).toBe(1);
  });

  it('get the tasks of one that closes at once', async () => {
    const [one, other] = [await connect(), await connect()];
    await addTask(one, 1);
    const stopped: boolean[] = [];
    const poller = startPoller(one, 'one', async (_task, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      stopped.push(signal.aborted);
    });
    await delay(100);
    await poller.close(50);
    expect(stopped).toEqual([true]);
    expect(await other.take('other', Date.now(), Date.now() + 1000, 5)).toHaveLength(1);
  });
});

describe('the store', () => {
  it('shows a task only once a vendor has accepted it, and only to its user', async () => {
    const store = await connect();
    const origin = originOf(1);
    await store.insert(origin, 'me', Date.now() + 1000, 100);
    expect(await store.find(origin.id, 1)).toBeNull();
    await store.save(origin.id, 'me', { place }, true);
    expect(await store.find(origin.id, 1)).toMatchObject({ place, price: { second: '0.10' }, held: 5 });
    expect(await store.find(origin.id, 2)).toBeNull();
    expect(await store.remove(origin.id)).toBe(false);
  });

  it('keeps any text that a client or a vendor sends', async () => {
    const store = await connect();
    const id = await addTask(store, 1, { prompt: 'half a pair \ud800, a zero \0, “quotes”' });
    await store.take('me', Date.now(), Date.now() + 1000, 1);
    await store.save(id, 'me', { errorMessage: 'again \udfff\0', progress: 7 }, true);
    const task = await store.find(id, 1);
    expect(task).toMatchObject({ prompt: 'half a pair \ufffd, a zero \ufffd, “quotes”', progress: 7 });
    expect(task?.errorMessage).toBe('again \ufffd\ufffd');
  });

  it('takes those that are due longest first, and as many as are asked for', async () => {
    const store = await connect();
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) ids.push(await addTask(store, index));
    const first = await store.take('me', Date.now(), Date.now() + 1000, 4);
    expect(first.map(({ id }) => id).sort()).toEqual(ids.slice(0, 4));
    expect(await store.take('me', Date.now(), Date.now() + 1000, 4)).toHaveLength(2);
    expect(await store.take('me', Date.now(), Date.now() + 1000, 4)).toEqual([]);
    await store.releaseAll('me');
    expect(await store.take('other', Date.now(), Date.now() + 1000, 9)).toHaveLength(6);
  });
});
