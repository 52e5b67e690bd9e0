import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { bearer, Room, refusal, served } from './support.ts';

let room: Room;
/** The second channel is the spare: it is asked when the first has failed. */
beforeAll(async () => {
  room = await Room.start({
    edit: served('gpt-realtime', ({ channels, routes }) => {
      const { 'simulated-openai': first, 'simulated-openai-spare': spare } = channels.channels;
      spare.models = { 'demo-realtime': 'gpt-realtime-mini' };
      spare.priority = 1;
      first.cooldown = { failures: 1000, first: '1ms', longest: '1ms' };
      first.credentials = ['sk-one'];
      first.timeouts = { connect: '2s', firstByte: '300ms', idle: '10s' };
      routes.failover.operations = {};
    }),
  });
});
afterAll(() => room.close());
beforeEach(() => room.stack.simulator.faults.clear());

const fail = (fault: object, model = 'gpt-realtime') =>
  room.stack.simulator.faults.add({ match: { path: '/realtime', model }, fault });
const lastPath = () => room.stack.simulator.received.at(-1)!.path;

describe('4.1 another channel is tried before the first event, and never after', () => {
  it.each([
    ['a refused handshake', { status: 503 }],
    ['a bad credential of the channel', { status: 401 }],
    ['too many requests', { status: 429 }],
    ['a broken connection', { reset: 'now' }],
    ['a 200 instead of a 101', { error200: true }],
    ['a cut before the first event', { cut: 0 }],
    ['a close before the first event', { close: 1013 }],
    ['a normal close before the first event', { close: 1000 }],
    ['an error as the first event', { errorframe: 0 }],
    ['a first event that is no JSON', { malformed: 0 }],
    ['silence', { stall: 0 }],
    ['a handshake that does not end', { latency: 2_000 }],
  ])('4.1 %s: the next channel', async (_what, fault) => {
    fail(fault);
    const client = await room.converse('Hi');
    expect((await client.until('response.done')).response.status).toBe('completed');
    expect(client.types().filter((type) => type === 'session.created')).toHaveLength(1);
    expect(lastPath()).toContain('gpt-realtime-mini');
    client.socket.close();
    const rows = await room.rows(client);
    expect(rows.map(({ channel, attempts }) => [channel, attempts])).toEqual(
      rows.map(() => ['simulated-openai-spare', 2]),
    );
  });

  it('4.1 a refusal of the client’s own doing is not tried again', async () => {
    fail({ status: 400 });
    const refused = await refusal(room.open());
    expect(refused.status).toBe(400);
    expect(lastPath()).not.toContain('mini');
  });

  it('7 when all channels fail, the last failure is told', async () => {
    fail({ status: 503 });
    fail({ status: 500 }, 'gpt-realtime-mini');
    const refused = await refusal(room.open());
    expect([refused.status, refused.body.error.code]).toEqual([502, 'upstream_error']);
  });

  it.each([
    ['a cut', { cut: 1 }, 1011],
    ['a close', { close: 1013, after: 1 }, 1013],
  ])('4.1 %s after the first event ends the session', async (_what, fault, code) => {
    fail(fault);
    const before = room.stack.simulator.received.length;
    const client = await room.open();
    expect((await client.closed).code).toBe(code);
    expect(client.types()[0]).toBe('session.created');
    expect(room.stack.simulator.received.length).toBe(before + 1);
    expect(await room.rows(client)).toMatchObject([
      { outcome: 'error', quota: 0, attempts: 1, channel: 'simulated-openai' },
    ]);
  });

  it('4.1 a client that leaves while a channel is tried is settled at once', async () => {
    fail({ stall: 0 });
    const { base, key } = room.stack;
    const socket = new WebSocket(`${base.replace('http', 'ws')}/realtime?model=demo-realtime`, {
      headers: bearer(key),
    });
    socket.on('error', () => {});
    await expect.poll(() => room.stack.gateway.snapshot.active).toBe(1);
    socket.terminate();
    await expect.poll(() => room.stack.gateway.snapshot.active).toBe(0);
    expect(await room.stack.usage()).toContainEqual(
      expect.objectContaining({ outcome: 'aborted', status: 499, quota: 0 }),
    );
  });
});
