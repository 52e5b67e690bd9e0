import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Room } from './support.ts';
import { type BareVendor, startBareVendor } from './vendor.ts';

const megabyte = 1024 * 1024;
const largestOf = (buffer: string) =>
  Number(readFileSync(`/proc/sys/net/ipv4/${buffer}`, 'utf8').trim().split(/\s+/).at(-1));
/** What one connection may keep in the kernel's buffers of both ends: on a busy machine they grow to their largest. */
const kernel = largestOf('tcp_rmem') + largestOf('tcp_wmem');

/** Bytes that this process holds outside of the heap and in it. */
const held = () => {
  const { external, arrayBuffers, heapUsed } = process.memoryUsage();
  return Math.max(external, arrayBuffers) + heapUsed;
};

describe('E back-pressure, memory bounded', () => {
  let vendor: BareVendor;
  afterEach(() => vendor.close());

  it('E a client that does not read pauses its vendor; all comes in order when it does', async () => {
    vendor = await startBareVendor();
    const client = await vendor.room.open();
    const socket = vendor.sockets[0]!;
    client.socket.pause();
    const before = held();
    let sent = 0;
    let blocked = 0;
    const frame = (index: number) => `{"type":"x","n":${index},"pad":"${'p'.repeat(65_536)}"}`;
    while (sent < 2_000 && blocked < 40) {
      if (socket.bufferedAmount > megabyte) {
        blocked++;
        await delay(10);
        continue;
      }
      blocked = 0;
      socket.send(frame(sent++));
      if (sent % 16 === 0) await delay(0);
    }
    expect(blocked).toBe(40);
    expect(sent * 65_536).toBeLessThan(2 * kernel + 4 * megabyte);
    expect(held() - before).toBeLessThan(44 * megabyte);
    client.socket.resume();
    await expect.poll(() => client.frames.length, { timeout: 10_000 }).toBe(sent + 1);
    expect(client.events.slice(1).map(({ n }) => n)).toEqual(Array.from({ length: sent }, (_, index) => index));
  });

  it('E events that come while a charge is being booked keep their order', async () => {
    vendor = await startBareVendor();
    const client = await vendor.room.open();
    const expected: string[] = [];
    for (let index = 0; index < 200; index++) {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const frame = JSON.stringify(
        index % 5 === 0
          ? { type: 'response.done', n: index, response: { status: 'completed', usage } }
          : { type: 'response.created', n: index },
      );
      expected.push(frame);
      vendor.sockets[0]!.send(frame);
    }
    vendor.sockets[0]!.close(1000, 'all said');
    expect(await client.closed).toEqual({ code: 1000, reason: 'all said' });
    expect(client.frames.slice(1)).toEqual(expected);
    const rows = await vendor.room.rows(client);
    expect(rows.filter(({ inputTokens }) => inputTokens === 1)).toHaveLength(40);
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(41);
  });

  it('E a client that outruns its vendor is told to go: 1013, memory bounded', async () => {
    vendor = await startBareVendor(undefined, ({ gateway }) => {
      gateway.realtime = { bufferLimit: '4mb' };
    });
    const client = await vendor.room.open();
    vendor.sockets[0]!.pause();
    const before = held();
    const frame = `{"type":"input_audio_buffer.append","audio":"${'A'.repeat(megabyte)}"}`;
    let most = 0;
    for (let sent = 0; sent < 100 && client.socket.readyState === 1; sent++) {
      client.socket.send(frame);
      await delay(2);
      most = Math.max(most, held() - before);
    }
    expect((await client.closed).code).toBe(1013);
    expect(client.events.at(-1).error).toMatchObject({ code: 'overloaded' });
    expect(most).toBeLessThan(52 * megabyte);
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome: 'error', code: 'overloaded', quota: 0 }]);
  });

  it('E a slow vendor that catches up in time gets everything in order', async () => {
    vendor = await startBareVendor();
    const client = await vendor.room.open();
    vendor.sockets[0]!.pause();
    const sent = Array.from({ length: 300 }, (_, index) => `{"n":${index},"pad":"${'p'.repeat(65_536)}"}`);
    for (const frame of sent) client.socket.send(frame);
    await delay(200);
    vendor.sockets[0]!.resume();
    await expect.poll(() => vendor.frames.length, { timeout: 10_000 }).toBe(sent.length);
    expect(vendor.frames).toEqual(sent);
  });
});

describe('E slow readers and fragments, with the simulator', () => {
  let room: Room;
  beforeAll(async () => {
    room = await Room.start();
  });
  afterAll(() => room.close());

  it('E 30 MB of sound to a client that reads in gulps: the simulator waits, nothing is lost', async () => {
    const client = await room.open();
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: '[bytes=30000000]' }] };
    client.send({ type: 'conversation.item.create', item }, { type: 'response.create' });
    await client.until('response.output_audio.delta');
    client.socket.pause();
    await delay(300);
    const early = room.stack.simulator.received.at(-1)!.events;
    await delay(200);
    expect(room.stack.simulator.received.at(-1)!.events).toBeLessThan(early + 20);
    client.socket.resume();
    await client.until('response.done');
    const sound = client.events.filter(({ type }) => type === 'response.output_audio.delta');
    expect(sound.reduce((sum, { delta }) => sum + Buffer.byteLength(delta, 'base64'), 0)).toBe(30_000_000);
    client.socket.close();
  });

  it.each([
    ['split', { split: 7 }],
    ['trickle', { trickle: 200, delay: 1 }],
    ['hugeline', { hugeline: 100_000 }],
  ])('E %s: messages in pieces give the same view and the same charge', async (_what, fault) => {
    room.stack.simulator.faults.clear();
    const plain = await room.converse('Hi [chunks=2]');
    const wanted = (await plain.until('response.done')).response.usage;
    room.stack.simulator.faults.add({ match: { path: '/realtime' }, fault });
    const client = await room.converse('Hi [chunks=2]');
    expect((await client.until('response.done')).response.usage).toEqual(wanted);
    plain.socket.close();
    client.socket.close();
    const [one] = await room.rows(plain);
    const [other] = await room.rows(client);
    expect(other!.quota).toBe(one!.quota);
    room.stack.simulator.faults.clear();
  });

  it('F 200 sessions at once', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => room.converse('Hi [chunks=2]')));
    await Promise.all(clients.map((client) => client.until('response.done')));
    for (const client of clients) client.socket.close();
    await expect.poll(() => room.stack.gateway.snapshot.active, { timeout: 5_000 }).toBe(0);
    expect(await room.stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });
});
