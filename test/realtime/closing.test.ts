import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BareVendor, created, startBareVendor } from './vendor.ts';

describe('4.1 how sessions end', () => {
  let vendor: BareVendor;
  beforeAll(async () => {
    vendor = await startBareVendor();
  });
  afterAll(() => vendor.close());
  const newest = () => vendor.sockets.at(-1)!;
  const vendorClose = () =>
    new Promise<[number, string]>((resolve) =>
      newest().once('close', (code, reason) => resolve([code, reason.toString()])),
    );

  it.each([
    [1000, 'done', 1000, 'done', 'ok'],
    [
      1001,
      'Your session hit the maximum duration of 60 minutes.',
      1001,
      'Your session hit the maximum duration of 60 minutes.',
      'error',
    ],
    [1008, 'policy', 1008, 'policy', 'error'],
    [1011, 'keepalive ping timeout', 1011, 'keepalive ping timeout', 'error'],
    [1013, '', 1013, '', 'error'],
    [3000, 'unauthorized', 3000, 'unauthorized', 'error'],
    [4999, 'own', 4999, 'own', 'error'],
  ])('4.1 the vendor’s %i %s is handed over', async (code, reason, shownCode, shownReason, outcome) => {
    const client = await vendor.room.open();
    newest().close(code, reason);
    expect(await client.closed).toEqual({ code: shownCode, reason: shownReason });
    expect(client.types()).toEqual(['session.created']);
    expect((await vendor.room.rows(client)).map((row) => row.outcome)).toEqual([outcome]);
  });

  it.each([
    ['a close without a code', () => newest().close()],
    ['a cut', () => newest().terminate()],
    ['a binary frame', () => newest().send(Buffer.from('x'), { binary: true })],
    ['text that is no UTF-8', () => newest().send(Buffer.from([0xff, 0xfe]), { binary: false })],
    ['a frame larger than the route’s', () => newest().send('x'.repeat(25 * 1024 * 1024))],
  ])('4.1 of the vendor %s: an error event, then 1011', async (_what, end) => {
    const client = await vendor.room.open();
    await client.until('session.created');
    end();
    expect((await client.closed).code).toBe(1011);
    expect(client.events.at(-1)).toMatchObject({
      type: 'error',
      event_id: expect.stringMatching(/^event_/),
      error: { type: 'server_error', code: 'upstream_error', message: expect.stringContaining('request id: req_') },
    });
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome: 'error', code: 'upstream_error', quota: 0 }]);
  });

  it.each([
    [1000, 'OK', [1000, 'OK'], 'ok'],
    [4001, 'bye', [4001, 'bye'], 'ok'],
    [4000, '', [4000, ''], 'ok'],
    [undefined, undefined, [1005, ''], 'ok'],
  ])('4.1 the client’s %s %s reaches the vendor', async (code, reason, heard, outcome) => {
    const client = await vendor.room.open();
    const closing = vendorClose();
    client.socket.close(code, reason);
    expect(await closing).toEqual(heard);
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome, status: 101, code: null }]);
  });

  it('4.1 a client that is cut off is settled as aborted, its vendor told 1001', async () => {
    const client = await vendor.room.open();
    const closing = vendorClose();
    client.socket.terminate();
    expect((await closing)[0]).toBe(1001);
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome: 'aborted' }]);
  });

  it('4.1 binary frames are refused with 1003', async () => {
    const client = await vendor.room.open();
    const closing = vendorClose();
    client.socket.send(Buffer.from('{}'), { binary: true });
    expect((await client.closed).code).toBe(1003);
    expect(client.events.at(-1).error.code).toBe('unsupported_content_type');
    expect(await closing).toEqual([1000, '']);
    expect(vendor.frames).toEqual([]);
  });

  it('8 an event larger than the route’s limit: 1009', async () => {
    const client = await vendor.room.open();
    client.socket.send('x'.repeat(24 * 1024 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
    expect(client.events.at(-1).error.code).toBe('body_too_large');
    expect(vendor.frames).toEqual([]);
  });

  it('8 one beyond all measure: the connection is cut', async () => {
    const client = await vendor.room.open();
    client.socket.on('error', () => {});
    client.socket.send('x'.repeat(65 * 1024 * 1024));
    expect((await client.closed).code).toBe(1006);
  });

  it('4.1 frames are not touched: spaces, order, escapes, unknown types, what is no JSON', async () => {
    const odd = [
      '  { "b" : 1 , "type" : "some.new.event" , "a" : "\\u0041\\/" }  ',
      '{"event_id":"e","type":"rate_limits.updated","n":1e3}',
      'not json',
      '[]',
      '"text"',
      '{"type":"response.done"}',
      '{"type":"response.done","response":{"usage":"lots"}}',
      '{"type":"conversation.item.input_audio_transcription.completed","usage":{"type":"duration","seconds":-1}}',
      '东京 🙂',
    ];
    const client = await vendor.room.open();
    for (const frame of odd) newest().send(frame);
    for (const frame of odd) client.socket.send(frame);
    await expect.poll(() => vendor.frames).toEqual(odd);
    await expect.poll(() => client.frames).toEqual([created, ...odd]);
    client.socket.close();
    expect(await vendor.room.rows(client)).toMatchObject([{ quota: 0, outcome: 'ok' }]);
  });

  it('4.1 pings of both sides are answered', async () => {
    const client = await vendor.room.open();
    const pong = new Promise((resolve) => client.socket.once('pong', resolve));
    client.socket.ping('a');
    await pong;
    const other = new Promise((resolve) => newest().once('pong', resolve));
    newest().ping('b');
    await other;
  });
});

describe('8 limits of a session', () => {
  let vendor: BareVendor;
  let settings: Record<string, string> = {};
  afterEach(() => vendor.close());
  const start = async (route: Record<string, string> = {}) => {
    vendor = await startBareVendor(undefined, ({ gateway, routes }) => {
      gateway.realtime = settings;
      Object.assign(
        routes.routes.find((one: { operation: string }) => one.operation === 'realtime'),
        route,
      );
    });
  };

  it('8 idle: an error event, then 1001; any event of either side counts', async () => {
    settings = { idleTimeout: '400ms' };
    await start();
    const client = await vendor.room.open();
    for (let turn = 0; turn < 4; turn++) {
      await delay(200);
      if (turn % 2 === 0) client.send({ type: 'input_audio_buffer.clear' });
      else vendor.sockets[0]!.send('{"type":"input_audio_buffer.cleared"}');
    }
    expect(client.socket.readyState).toBe(1);
    expect((await client.closed).code).toBe(1001);
    expect(client.events.at(-1).error).toMatchObject({ code: 'session_expired' });
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome: 'ok', code: 'session_expired' }]);
  });

  it('8 the longest session: an error event session_expired, then 1001', async () => {
    settings = {};
    await start({ timeout: '500ms' });
    const client = await vendor.room.open();
    const busy = setInterval(() => client.send({ type: 'input_audio_buffer.clear' }), 50);
    expect((await client.closed).code).toBe(1001);
    clearInterval(busy);
    expect(client.events.at(-1).error).toMatchObject({
      code: 'session_expired',
      message: expect.stringContaining('0.5 s'),
    });
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome: 'ok', code: 'session_expired' }]);
  });

  it('8 who answers no pings is gone: the vendor', async () => {
    settings = { pingTimeout: '300ms' };
    await start();
    const client = await vendor.room.open();
    await delay(700);
    expect(client.socket.readyState).toBe(1);
    vendor.sockets[0]!.pause();
    expect((await client.closed).code).toBe(1011);
    expect(client.events.at(-1).error.code).toBe('upstream_error');
  });

  it('8 who answers no pings is gone: the client', async () => {
    settings = { pingTimeout: '300ms' };
    await start();
    const client = await vendor.room.open();
    client.socket.pause();
    await new Promise((resolve) => vendor.sockets[0]!.once('close', resolve));
    expect(await vendor.room.rows(client)).toMatchObject([{ outcome: 'aborted' }]);
  });
});
