/** Tasks that ended long ago are removed with their files. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type LedgerDatabase, openDatabase } from '../../engine/ledger/sqlite.ts';
import { silentLog } from '../../engine/observe/log.ts';
import { Purger } from '../../engine/tasks/purger.ts';
import { createTaskStore } from '../../engine/tasks/store.ts';
import type { TaskStore } from '../../engine/tasks/task.ts';
import { ask, create, ended, startVideoStack } from './support.ts';
import { originOf, place, settings } from './tasks.ts';

const hour = 3_600_000;

async function happens(what: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 10_000; !(await what()); await delay(20))
    if (Date.now() > end) throw new Error('it did not happen');
}

describe('`videos.retention`', () => {
  it('over: task and file are gone, the charge stays', async () => {
    const stack = await startVideoStack({
      edit: ({ gateway }) => {
        gateway.videos.retention = '2s';
      },
    });
    onTestFinished(() => stack.close());
    const { id } = (await create(stack, { prompt: 'A kite [polls=1]' })).body;
    const { metadata } = await ended(stack, id);
    const failed = (await create(stack, { prompt: 'A kite [polls=1][fail=error]' })).body.id;
    await ended(stack, failed);
    const running = (await create(stack, { prompt: 'A kite [polls=1000]' })).body.id;
    for (const gone of [id, failed]) {
      await happens(async () => (await ask(stack, 'GET', `/videos/${gone}`)).status === 404);
      expect((await ask(stack, 'GET', `/videos/${gone}/content`)).status).toBe(404);
    }
    expect((await fetch(metadata.url)).status).toBe(404);
    const files = await readdir(join(stack.data, 'objects', 'videos'), { recursive: true });
    expect(files.filter((name) => name.endsWith('.mp4'))).toEqual([]);
    expect((await ask(stack, 'GET', '/videos')).body.data).toMatchObject([{ id: running }]);
    expect((await stack.usage()).map(({ quota }) => quota).sort()).toEqual([0, 200_000]);
    expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });
});

describe('two gateways on one database', () => {
  let folder: string;
  let databases: LedgerDatabase[];
  let stores: TaskStore[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'video-retention-'));
    databases = [];
    for (let index = 0; index < 2; index++)
      databases.push(await openDatabase(join(folder, 'gateway.db'), { busyTimeout: 2, autoCheckpoint: 1000 }));
    stores = databases.map(createTaskStore);
  });
  afterEach(async () => {
    for (const database of databases) await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A task that ended so long ago, null: it is open. */
  async function addTask(index: number, ago: number | null): Promise<string> {
    const origin = originOf(index, { createdAt: Date.now() - 3 * hour });
    const store = stores[0]!;
    await store.insert(origin, 'me', Date.now() + 1000, 1000);
    const over = ago === null ? {} : { open: false, completedAt: Date.now() - ago, objectKey: `key-${index}` };
    await store.save(origin.id, 'me', { place, ...over }, true);
    return origin.id;
  }

  function startPurger(
    store: TaskStore,
    owner: string,
    remove: (key: string) => Promise<void>,
    lease = 1000,
    retention = hour,
  ) {
    const purger = new Purger({
      store,
      owner,
      objects: { delete: remove },
      settings: () => ({ ...settings, lease, retention }),
      now: Date.now,
      log: silentLog,
    });
    purger.start();
    return purger;
  }

  const isLeft = async (id: string) => (await stores[0]!.find(id, 1)) !== null;

  it('remove each old task once, batch by batch, and nothing that is young or open', async () => {
    const old: string[] = [];
    for (let index = 0; index < 70; index++) old.push(await addTask(index, 2 * hour));
    const kept = [await addTask(100, hour / 2), await addTask(101, null)];
    const deleted: string[] = [];
    const purgers = stores.map((store, index) =>
      startPurger(store, `gateway-${index}`, async (key) => {
        deleted.push(key);
        await delay(2);
      }),
    );
    await happens(async () => (await Promise.all(old.map(isLeft))).every((left) => !left));
    for (const purger of purgers) await purger.close();
    expect(deleted.sort()).toEqual(old.map((_, index) => `key-${index}`).sort());
    expect(await Promise.all(kept.map(isLeft))).toEqual([true, true]);
  });

  it('keep the row of a file that cannot be deleted, remove the others, and try it again', async () => {
    const ids = [await addTask(1, 3 * hour), await addTask(2, 2 * hour)];
    let broken = true;
    const remove = async (key: string) => {
      if (broken && key === 'key-1') throw new Error('the disk is tired');
    };
    const purger = startPurger(stores[0]!, 'one', remove, 20);
    await happens(async () => !(await isLeft(ids[1]!)));
    expect(await isLeft(ids[0]!)).toBe(true);
    await purger.close();
    broken = false;
    // The next process takes over when its rest has ended: ten leases.
    await delay(250);
    const next = startPurger(stores[1]!, 'two', remove);
    await happens(async () => !(await isLeft(ids[0]!)));
    await next.close();
  });

  it('get past more files that cannot be deleted than they take at once', async () => {
    const stuck: string[] = [];
    for (let index = 0; index < 25; index++) stuck.push(await addTask(index, 3 * hour));
    const last = await addTask(99, 2 * hour);
    const remove = async (key: string) => {
      if (key !== 'key-99') throw new Error('the disk is tired');
    };
    const purger = startPurger(stores[0]!, 'one', remove, 60_000, 100);
    await happens(async () => !(await isLeft(last)));
    expect((await Promise.all(stuck.map(isLeft))).every((left) => left)).toBe(true);
    await purger.close();
  });

  it('leave alone what is off', async () => {
    const id = await addTask(1, 3 * hour);
    const purger = new Purger({
      store: stores[0]!,
      owner: 'one',
      objects: { delete: () => Promise.reject(new Error('not asked for')) },
      settings: () => settings,
      now: Date.now,
      log: silentLog,
    });
    purger.start();
    await delay(300);
    await purger.close();
    expect(await isLeft(id)).toBe(true);
  });

  it('count the open tasks of a key together', async () => {
    const inserts = Array.from({ length: 20 }, (_, index) =>
      stores[index % 2]!.insert(originOf(index), `gateway-${index % 2}`, Date.now() + 1000, 7),
    );
    expect((await Promise.all(inserts)).filter((accepted) => accepted)).toHaveLength(7);
    expect(await stores[1]!.insert(originOf(50, { keyId: 2 }), 'gateway-1', Date.now() + 1000, 7)).toBe(true);
  });
});
