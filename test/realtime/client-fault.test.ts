/** What a client does within a session must not put its channel to rest: others use it too (spec 7). */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { bearer, type Client, refusal } from './support.ts';
import { type BareVendor, created, startBareVendor } from './vendor.ts';

let vendor: BareVendor;
afterEach(() => vendor.close());

/** A channel that rests for a minute when it fails once. */
const start = (greet: Parameters<typeof startBareVendor>[0], pingTimeout: string) =>
  startBareVendor(greet, ({ channels, gateway }) => {
    channels.channels['simulated-openai'].cooldown = { failures: 1, first: '1m', longest: '1m' };
    gateway.realtime = { pingTimeout };
  });

/** Sends until the gateway has stopped reading from the vendor. */
async function flood(client: Client): Promise<void> {
  client.socket.pause();
  const socket = vendor.sockets.at(-1)!;
  const frame = `{"type":"x","pad":"${'p'.repeat(65_536)}"}`;
  for (let blocked = 0; blocked < 40; ) {
    blocked = socket.bufferedAmount > 1024 * 1024 ? blocked + 1 : 0;
    if (blocked > 0) await delay(10);
    else socket.send(frame);
  }
}

/** A client that does not read, but is heard. */
function chatter(client: Client): () => void {
  const timer = setInterval(() => client.socket.pong(), 50);
  return () => clearInterval(timer);
}

describe('7 a client that does not read', () => {
  it('7 its vendor, whose pongs wait with all the rest, is not taken for dead', async () => {
    vendor = await start((socket) => socket.send(created), '300ms');
    const client = await vendor.room.open();
    const stop = chatter(client);
    await flood(client);
    await delay(1000);
    expect(vendor.sockets[0]!.readyState).toBe(vendor.sockets[0]!.OPEN);
    stop();
    const next = await vendor.room.open();
    await next.until('session.created');
  });

  it('7 a vendor that gives such a session up is not blamed', async () => {
    vendor = await start((socket) => socket.send(created), '1m');
    const client = await vendor.room.open();
    await flood(client);
    vendor.sockets[0]!.close(1011, 'keepalive ping timeout');
    await delay(50);
    client.socket.resume();
    expect((await client.closed).code).toBe(1011);
    const next = await vendor.room.open();
    await next.until('session.created');
  });
});

describe('7 a client whose session the vendor refuses as its first event', () => {
  it('7 hears why, and the channel serves on: the beta, which a header asks for, may be gone', async () => {
    const error = { type: 'invalid_request_error', code: 'beta_api_shape_disabled', message: 'The beta is gone.' };
    let refuses = true;
    vendor = await start((socket) => socket.send(refuses ? JSON.stringify({ type: 'error', error }) : created), '1m');
    const { room } = vendor;
    const headers = { ...bearer(room.stack.key), 'openai-beta': 'realtime=v1' };
    const { status, body } = await refusal(room.open({ headers }));
    expect([status, body.error.code]).toEqual([400, 'beta_api_shape_disabled']);
    refuses = false;
    const next = await room.open();
    await next.until('session.created');
  });
});

describe('7 a vendor that breaks a session off', () => {
  const ends: [string, (vendor: BareVendor) => void][] = [
    ['a close for a failure', ({ sockets }) => sockets[0]!.close(1011, 'internal error')],
    ['a cut', ({ sockets }) => sockets[0]!.terminate()],
    ['an echo beyond the limit', ({ sockets }) => sockets[0]!.send('x'.repeat(25 * 1024 * 1024))],
  ];

  it.each(ends)('7 behind what a client said is not blamed for it: %s', async (_what, end) => {
    vendor = await start((socket) => socket.send(created), '1m');
    const client = await vendor.room.open();
    client.socket.send('what a vendor cannot bear');
    await expect.poll(() => vendor.frames.length).toBe(1);
    end(vendor);
    expect((await client.closed).code).toBe(1011);
    const next = await vendor.room.open();
    await next.until('session.created');
  });

  it.each(ends)('7 before that it rests: %s', async (_what, end) => {
    vendor = await start((socket) => socket.send(created), '1m');
    const client = await vendor.room.open();
    end(vendor);
    expect((await client.closed).code).toBe(1011);
    expect((await refusal(vendor.room.open())).status).toBe(503);
  });
});

it('7 the words of a vendor’s close repeat no credential', async () => {
  vendor = await start((socket) => socket.send(created), '1m');
  const client = await vendor.room.open();
  vendor.sockets[0]!.close(3000, 'bad key sk-verysecret0123456789');
  expect(await client.closed).toEqual({ code: 3000, reason: 'bad key [redacted]' });
});
