import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, Room, served } from './support.ts';

/** What a fault of the vendor within a session comes to: what the client sees, and what is charged. */
interface Outcome {
  readonly fault: object;
  /** The close code; null: the session goes on, and the client closes it. */
  readonly code: number | null;
  /** The session ends with an error event of this code; null: without. */
  readonly error?: string;
  /** `measured`, `estimated` or nothing for the one answer. */
  readonly charge: 'measured' | 'estimated' | null;
  readonly outcome: 'ok' | 'error';
  /** The first event to wait for where the session goes on. */
  readonly until?: string;
}

const table: readonly (readonly [string, Outcome])[] = [
  ['none', { fault: {}, code: null, charge: 'measured', outcome: 'ok' }],
  [
    'cut after the first event',
    { fault: { cut: 1 }, code: 1011, error: 'upstream_error', charge: null, outcome: 'error' },
  ],
  [
    'cut within an answer',
    { fault: { cut: 15 }, code: 1011, error: 'upstream_error', charge: 'estimated', outcome: 'error' },
  ],
  [
    'cut behind an answer',
    { fault: { cut: 22 }, code: 1011, error: 'upstream_error', charge: 'measured', outcome: 'error' },
  ],
  [
    'close 1000 within an answer',
    { fault: { close: 1000, after: 15 }, code: 1000, charge: 'estimated', outcome: 'ok' },
  ],
  [
    'close 1001 within an answer',
    { fault: { close: 1001, after: 15 }, code: 1001, charge: 'estimated', outcome: 'error' },
  ],
  [
    'close 1013 behind an answer',
    { fault: { close: 1013, after: 22 }, code: 1013, charge: 'measured', outcome: 'error' },
  ],
  ['an error event within an answer', { fault: { errorframe: 15 }, code: null, charge: 'measured', outcome: 'ok' }],
  ['a broken event', { fault: { malformed: 15 }, code: null, charge: 'measured', outcome: 'ok' }],
  ['an endless line', { fault: { hugeline: 1_000_000 }, code: null, charge: 'measured', outcome: 'ok' }],
  ['no report', { fault: { nousage: true }, code: null, charge: 'estimated', outcome: 'ok' }],
  [
    'no response.done',
    { fault: { nodone: true }, code: null, charge: 'estimated', outcome: 'ok', until: 'rate_limits.updated' },
  ],
  ['a refusal', { fault: { refuse: 'safety' }, code: null, charge: 'measured', outcome: 'ok' }],
  ['pings', { fault: { ping: 5 }, code: null, charge: 'measured', outcome: 'ok' }],
  ['one byte a frame', { fault: { split: 1 }, code: null, charge: 'measured', outcome: 'ok' }],
  [
    'silence, ended as idle',
    { fault: { stall: 15 }, code: 1001, error: 'session_expired', charge: 'estimated', outcome: 'ok' },
  ],
];

describe('E faults within a session', () => {
  let room: Room;
  beforeAll(async () => {
    room = await Room.start({
      edit: served('gpt-realtime', ({ gateway, channels }) => {
        gateway.realtime = { idleTimeout: '1s' };
        channels.channels['simulated-openai'].cooldown = { failures: 1000, first: '1ms', longest: '1ms' };
      }),
    });
  });
  afterAll(() => room.close());

  it.each(table)('E %s', async (_what, { fault, code, error, charge, outcome, until = 'response.done' }) => {
    room.stack.simulator.faults.clear();
    room.stack.simulator.faults.add({ match: { path: '/realtime' }, fault });
    const asked = room.stack.simulator.received.length;
    const client: Client = await room.converse('Hi [chunks=8]');
    if (code === null) {
      await client.until(until);
      client.socket.close(1000);
    } else {
      expect((await client.closed).code).toBe(code);
      const last = client.events.at(-1);
      expect(last.type === 'error' ? last.error.code : undefined).toBe(error);
    }
    const rows = await room.rows(client);
    const parts = rows.slice(0, -1);
    expect(parts.map(({ usageSource }) => usageSource)).toEqual(charge === null ? [] : [charge]);
    for (const { quota } of parts) expect(quota).toBeGreaterThan(0);
    expect(rows.at(-1)).toMatchObject({ quota: 0, outcome, attempts: 1 });
    // No other channel is tried once the session has begun.
    expect(room.stack.simulator.received.length).toBe(asked + 1);
  });
});
