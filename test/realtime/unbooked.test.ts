import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Room } from './support.ts';

let room: Room;
beforeEach(async () => {
  room = await Room.start();
  // No segment is open before the first charge: it cannot be made.
  await rm(join(room.stack.data, 'journal'), { recursive: true });
});
afterEach(() => room.close());

it('8 an answer that cannot be booked ends the session with an error event and without its last event', async () => {
  const client = await room.converse('Hi');
  expect((await client.closed).code).toBe(1011);
  expect(client.types()).toContain('response.created');
  expect(client.types()).not.toContain('response.done');
  expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'internal_error' } });
  await mkdir(join(room.stack.data, 'journal'));
  const next = await room.converse('Hi again');
  expect((await next.until('response.done')).response.status).toBe('completed');
  next.socket.close();
  expect((await room.rows(next))[0]!.quota).toBeGreaterThan(0);
  expect(await room.stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
});
