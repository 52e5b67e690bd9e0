import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { diffConfigurations } from '../../engine/config/index.ts';
import { patiently } from '../../engine/ledger/serial.ts';
import { type LedgerDatabase, openDatabase } from '../../engine/ledger/sqlite.ts';
import { silentLog } from '../../engine/observe/log.ts';
import type { StoredResponse } from '../../engine/plugin.ts';
import { type OpenResponses, openResponses } from '../../engine/responses/store.ts';
import type { Stack } from '../kit/stack.ts';
import { clientOf, eventsOf, startResponsesStack, viaChat, viaNative } from './support.ts';

const stored = (id: string, over: Partial<StoredResponse> = {}): StoredResponse => ({
  id,
  userId: 1,
  place: null,
  named: true,
  previous: null,
  input: [{ id: `in-${id}`, type: 'message' }],
  response: { id, output: [{ id: `out-${id}` }] },
  ...over,
});

describe('the store of kept responses', () => {
  let folder: string;
  let database: LedgerDatabase;
  let store: OpenResponses;
  let now = 1_000;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'responses-'));
    database = await openDatabase(join(folder, 'gateway.db'), { busyTimeout: 5, autoCheckpoint: 1000 });
    now = 1_000;
    store = openResponses({ database, log: silentLog, now: () => now });
    store.configure({ keep: 500, maximumSize: 1_000_000 });
  });
  afterEach(async () => {
    await store.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('finds what was put by its id and by what stood in it', async () => {
    const native = stored('b', { place: { channel: 'c', credential: 'h' }, input: [], response: null, named: false });
    await Promise.all([store.put(stored('a'), ['out-a'], []), store.put(native, ['sha256:x'], [])]);
    expect(await store.find('a')).toEqual(stored('a'));
    const found = await store.findMarks(['out-a', 'sha256:x', 'unknown']);
    const marked = { userId: 1, size: expect.any(Number) as number };
    expect([...found]).toEqual([
      ['out-a', { ...marked, id: 'a', place: null, named: true }],
      ['sha256:x', { ...marked, id: 'b', place: native.place, named: false }],
    ]);
    await store.delete('a');
    expect(await store.find('a')).toBeNull();
    expect((await store.findMarks(['out-a'])).size).toBe(0);
  });

  it('an id that is known stays whose it is', async () => {
    await store.put(stored('a'), [], []);
    await store.put(stored('a', { userId: 2 }), ['mark'], []);
    expect((await store.find('a'))!.userId).toBe(1);
    expect((await store.findMarks(['mark'])).size).toBe(0);
  });

  it('what has expired is not found, and swept away; what is gone on from lives as long as the rest', async () => {
    await store.put(stored('a'), ['out-a'], []);
    await store.put(stored('other'), [], []);
    now += 400;
    await store.put(stored('b', { previous: 'a' }), [], ['a']);
    now += 200;
    expect(await store.find('a')).not.toBeNull();
    expect(await store.find('other')).toBeNull();
    await store.sweep();
    const rows = await database.query.selectFrom('responses').select('id').orderBy('id').execute();
    expect(rows.map(({ id }) => id)).toEqual(['a', 'b']);
    now += 1_000;
    await store.sweep();
    expect(await database.query.selectFrom('response_marks').selectAll().execute()).toEqual([]);
  });

  it('all together stay below their bound, the ones that expire first go first', async () => {
    const large = { text: 'x'.repeat(10_000) };
    for (let index = 0; index < 20; index++) {
      now++;
      await store.put(stored(`r${index}`, { input: [large] }), [], []);
    }
    store.configure({ keep: 500, maximumSize: 52_000 });
    await store.sweep();
    const rows = await database.query.selectFrom('responses').select('id').orderBy('expires_at').execute();
    expect(rows.map(({ id }) => id)).toEqual(['r15', 'r16', 'r17', 'r18', 'r19'].slice(5 - rows.length));
    expect(rows.length).toBeGreaterThanOrEqual(4);
  });

  it('5 who keeps most gives way first: nobody pushes out what another user keeps', async () => {
    const large = { text: 'x'.repeat(10_000) };
    await store.put(stored('theirs', { userId: 2, input: [large] }), [], []);
    for (let index = 0; index < 20; index++) {
      now++;
      await store.put(stored(`r${index}`, { input: [large] }), [], []);
    }
    store.configure({ keep: 500, maximumSize: 32_000 });
    await store.sweep();
    const rows = await database.query.selectFrom('responses').select('id').orderBy('expires_at').execute();
    expect(rows.map(({ id }) => id)).toEqual(['theirs', 'r18', 'r19']);
  });

  it('a thousand at once are written', async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `r${index}`);
    await Promise.all(ids.map((id) => store.put(stored(id), [`out-${id}`], [])));
    expect((await store.findMarks(ids.slice(0, 50).map((id) => `out-${id}`))).size).toBe(50);
  });

  it('a database that cannot be written rejects, and the next one is tried anew', async () => {
    await database.query.schema.alterTable('responses').renameTo('away').execute();
    await expect(store.put(stored('a'), [], [])).rejects.toThrow('no such table');
    await database.query.schema.alterTable('away').renameTo('responses').execute();
    await store.put(stored('a'), [], []);
    expect(await store.find('a')).not.toBeNull();
  });
});

describe('gateway.yaml responses', () => {
  let stack: Stack;
  const logged: string[] = [];
  beforeAll(async () => {
    const note = (_fields: object, message: string) => void logged.push(message);
    stack = await startResponsesStack({ log: { ...silentLog, error: note } });
  });
  afterAll(() => stack.close());

  const keep = async (value: string | number) => {
    const before = stack.gateway.configuration;
    await stack.rewrite(({ gateway }) => {
      gateway.responses = { ...gateway.responses, keep: value };
    });
    // Whoever watches the files may have been faster.
    await stack.gateway.reload();
    return diffConfigurations(before, stack.gateway.configuration);
  };

  it('`off` and 0 hold at once: what asks for keeping is refused with its name', async () => {
    const client = clientOf(stack);
    const before = await client.responses.create({ model: viaChat, input: 'Hi' });
    for (const off of ['off', 0]) {
      expect(await keep(off)).toEqual([expect.stringMatching(/responses\.keep .*live/)]);
      for (const model of [viaChat, viaNative]) {
        const refused = (body: object) => client.responses.create({ model, input: 'Hi', ...body } as never);
        await expect(refused({ previous_response_id: before.id })).rejects.toMatchObject({
          status: 400,
          param: 'previous_response_id',
        });
        await expect(refused({ store: true })).rejects.toMatchObject({ status: 400, param: 'store' });
        await expect(refused({ input: [{ type: 'item_reference', id: 'msg_1' }] })).rejects.toMatchObject({
          status: 400,
          param: 'input',
        });
      }
      const answer = await client.responses.create({ model: viaChat, input: 'Hi' });
      expect(answer).toMatchObject({ status: 'completed', store: false });
      await expect(client.responses.retrieve(answer.id)).rejects.toMatchObject({ status: 404 });
      await keep('1h');
    }
    const again = await client.responses.create({ model: viaChat, input: 'And?', previous_response_id: before.id });
    expect(again.status).toBe('completed');
  });

  it('a duration and nothing else', async () => {
    await expect(keep('forever')).rejects.toMatchObject({
      faults: [expect.objectContaining({ message: expect.stringContaining('a duration such as 12h or 30d, or off') })],
    });
    await expect(keep(7)).rejects.toThrow();
    await keep('30d');
  });

  it('an answer that cannot be kept reaches the client all the same, and the log says so', async () => {
    // Waits without blocking: the gateway that may be writing is in this process.
    const { query } = await openDatabase(join(stack.data, 'gateway.db'), { busyTimeout: 2, autoCheckpoint: 1000 });
    const rename = (from: string, to: string) => patiently(() => query.schema.alterTable(from).renameTo(to).execute());
    await rename('responses', 'away');
    try {
      logged.length = 0;
      for (const model of [viaChat, viaNative]) {
        const client = clientOf(stack);
        const whole = await client.responses.create({ model, input: 'Hi' });
        expect(whole.status).toBe('completed');
        const events = await eventsOf(await client.responses.create({ model, input: 'Hi', stream: true }));
        expect(events.at(-1)!.type).toBe('response.completed');
      }
      expect(logged.filter((message) => message === 'a response could not be kept')).toHaveLength(4);
    } finally {
      await rename('away', 'responses');
      await query.destroy();
    }
  });

  it('is kept before the client has the last byte', async () => {
    const client = clientOf(stack);
    for (let round = 0; round < 5; round++) {
      const events = await eventsOf(await client.responses.create({ model: viaChat, input: 'Hi', stream: true }));
      const last = events.at(-1)!;
      if (last.type !== 'response.completed') throw new Error(last.type);
      expect((await client.responses.retrieve(last.response.id)).output).toEqual(last.response.output);
    }
  });
});
