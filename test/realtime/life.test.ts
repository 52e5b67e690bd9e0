import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { openAccounts } from '../../engine/ledger/index.ts';
import { asText, create, Room, say, served } from './support.ts';
import { type BareVendor, startBareVendor } from './vendor.ts';

let closing: { close(): Promise<void> } | null = null;
afterEach(async () => {
  await closing?.close();
  closing = null;
});

const start = async (edit = served()): Promise<Room> => {
  const room = await Room.start({ edit });
  closing = room;
  return room;
};

/** What the database says once the gateway has closed. */
async function books({ stack }: Room) {
  const accounts = await openAccounts(stack.data);
  try {
    return { rows: await accounts.usage({ limit: 100 }), audit: await accounts.audit() };
  } finally {
    await accounts.close();
  }
}

describe('3 a session keeps its configuration', () => {
  it('3 a reload leaves it as it is, with its model and its prices; the next session has the new ones', async () => {
    const room = await start();
    const client = await room.converse('one');
    await client.until('response.done');
    await room.stack.rewrite(({ models, channels }) => {
      models.models['demo-realtime'].price = { input: '400', output: '1600' };
      channels.channels['simulated-openai'].models['demo-realtime'] = 'gpt-realtime-mini';
    });
    await room.stack.gateway.reload();
    const from = client.events.length;
    client.send(say('one'), create);
    await client.until('response.done', from);
    client.socket.close();
    const [first, second] = await room.rows(client);
    expect(second!.quota).toBeLessThan(3 * first!.quota + 3);
    const next = await room.converse('one');
    await next.until('response.done');
    next.socket.close();
    const [dear] = await room.rows(next);
    expect(dear!.quota).toBeGreaterThan(50 * first!.quota);
  });

  it('3 the old configuration is let go when its last session has ended', async () => {
    const room = await start();
    const client = await room.open();
    const old = room.stack.gateway.snapshot;
    await room.stack.gateway.reload();
    expect(old.active).toBe(1);
    client.socket.close();
    await old.done;
  });
});

describe('3 shutdown', () => {
  const drain = (timeout: string) =>
    served('gpt-realtime', ({ gateway }) => {
      gateway.drain = { timeout };
    });

  it('3 sessions without an answer on its way are told at once: an error event, then 1001', async () => {
    const room = await start(drain('20s'));
    const client = await room.open();
    await client.until('session.created');
    const started = performance.now();
    await room.stack.gateway.close();
    expect(performance.now() - started).toBeLessThan(15_000);
    expect((await client.closed).code).toBe(1001);
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'shutting_down' } });
    expect((await books(room)).rows).toMatchObject([{ outcome: 'ok', code: 'shutting_down', quota: 0 }]);
  });

  it('3 an answer on its way may end first', async () => {
    const room = await start(drain('20s'));
    const client = await room.converse('Hi [chunks=10] [delay=20]');
    await client.until('response.output_text.delta');
    await room.stack.gateway.close();
    expect((await client.closed).code).toBe(1001);
    expect(client.types()).toContain('response.done');
    const { rows, audit } = await books(room);
    expect(rows).toHaveLength(2);
    expect(rows.some(({ quota, usageSource }) => quota > 0 && usageSource === 'measured')).toBe(true);
    expect(audit.ok).toBe(true);
  });

  it('3 but not longer than the drain timeout: then it is charged by estimate', async () => {
    const room = await start(drain('200ms'));
    const client = await room.converse('Hi [chunks=1000] [tokens=2000] [delay=20]');
    await client.until('response.output_text.delta');
    await room.stack.gateway.close();
    expect((await client.closed).code).toBe(1001);
    expect(client.events.at(-1)).toMatchObject({ error: { code: 'shutting_down' } });
    const { rows, audit } = await books(room);
    expect(rows).toHaveLength(2);
    expect(rows.some(({ quota, usageSource }) => quota > 0 && usageSource === 'estimated')).toBe(true);
    expect(audit.ok).toBe(true);
  });
});

describe('E hostile frames', () => {
  it('E whatever both sides send, it passes unchanged, and every session is settled once', async () => {
    const vendor: BareVendor = await startBareVendor();
    closing = vendor;
    const types = [
      'response.done',
      'response.created',
      'session.updated',
      'response.output_audio.delta',
      'response.text.delta',
      'conversation.item.input_audio_transcription.completed',
      'error',
    ];
    const hostile = fc.oneof(
      fc.json(),
      fc.string({ unit: 'grapheme' }),
      fc
        .record({ type: fc.constantFrom(...types), response: fc.jsonValue(), session: fc.jsonValue() })
        .map((event) => JSON.stringify(event)),
      fc
        .record({
          type: fc.constantFrom(...types),
          usage: fc.dictionary(
            fc.constantFrom('input_tokens', 'output_tokens', 'seconds', 'type'),
            fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constant('duration')),
          ),
        })
        .map(({ type, usage }) =>
          JSON.stringify({ type, usage, response: { status: 'completed', usage }, delta: 'abc' }),
        ),
      fc.constantFrom(...types).map((type) => `{"type":"${type}","response":{"usage":`),
      fc.integer({ min: 1, max: 2_000 }).map((depth) => `{"type":"response.done","response":${'['.repeat(depth)}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(hostile, { maxLength: 20 }),
        fc.array(hostile, { maxLength: 20 }),
        async (said, sent) => {
          const client = await vendor.room.open();
          const socket = vendor.sockets.at(-1)!;
          for (const frame of said) socket.send(frame);
          for (const frame of sent) client.socket.send(frame);
          await expect.poll(() => vendor.frames.length, { interval: 5 }).toBe(sent.length);
          await expect.poll(() => client.frames.length, { interval: 5 }).toBe(said.length + 1);
          expect(vendor.frames).toEqual(sent);
          expect(client.frames.slice(1)).toEqual(said);
          client.socket.close();
          const rows = await vendor.room.rows(client);
          expect(rows.filter(({ requestId }) => !requestId.includes('.'))).toHaveLength(1);
        },
      ),
      { numRuns: 25 },
    );
    const audit = await vendor.room.stack.gateway.ledger.accounts.audit();
    expect(audit).toMatchObject({ ok: true });
  });

  it('E clients that leave at any moment leave nothing behind', async () => {
    const room = await start();
    for (let turn = 0; turn < 20; turn++) {
      const client = await room.open();
      client.send(asText, say('Hi [chunks=20] [delay=1]'), create);
      await delay(turn * 2);
      if (turn % 2 === 0) client.socket.terminate();
      else client.socket.close();
    }
    await expect.poll(() => room.stack.gateway.snapshot.active).toBe(0);
    const rows = await room.stack.usage();
    expect(rows.filter(({ requestId }) => !requestId.includes('.'))).toHaveLength(20);
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(rows.length);
    expect(await room.stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });
});
