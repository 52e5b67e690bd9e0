/** What goes to a vendor: heads, bodies of every kind, and what is refused before anything is sent. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import type { StreamedBody, UpstreamRequest } from '../../engine/upstream/transport.ts';
import { type Play, type RawServer, send, startRawServer, whole } from './raw-server.ts';

let server: RawServer;
let list: HttpConnections;
const start = async (play: Play, onSocket?: (socket: Socket) => void) => {
  server = await startRawServer(play, undefined, onSocket);
  list = new HttpConnections({ origin: server.origin, connectTimeout: 2_000 });
};
const echo: Play = (socket, request) => socket.write(whole(`${request.length - request.indexOf('\r\n\r\n') - 4}`));
afterEach(async () => {
  await list.close();
  await expect.poll(() => server.open()).toBe(0);
  await server.close();
});

const streamed = (length: number, pieces: readonly (string | Buffer)[], broken?: Error): StreamedBody => ({
  length,
  async *read() {
    for (const piece of pieces) {
      await delay(1);
      yield Buffer.from(piece as string);
    }
    if (broken !== undefined) throw broken;
  },
});

const bodyOf = (request: string) => request.slice(request.indexOf('\r\n\r\n') + 4);

describe('a body', () => {
  const big = Buffer.alloc(3_000_000, 'b');
  const bodies: readonly (readonly [name: string, body: UpstreamRequest['body'], expected: string])[] = [
    ['of one Buffer', Buffer.from('hello'), 'hello'],
    ['of an empty Buffer', Buffer.alloc(0), ''],
    ['of none', null, ''],
    ['of pieces', [Buffer.from('he'), Buffer.alloc(0), Buffer.from('llo')], 'hello'],
    ['of no pieces', [], ''],
    ['of a large Buffer', big, big.toString()],
    ['of large pieces', [big, Buffer.from('end')], `${big}end`],
    ['that is read', streamed(5, ['he', '', 'llo']), 'hello'],
    ['that is read, of nothing', streamed(0, []), ''],
    ['that is read, large', streamed(9_000_000, [big, big, big]), `${big}${big}${big}`],
  ];
  it.each(bodies)('%s goes out with its length, and the connection stays', async (_name, body, expected) => {
    await start(echo);
    expect((await send(list, { body }).over).text).toBe(`${expected.length}`);
    expect((await send(list, { body }).over).text).toBe(`${expected.length}`);
    for (const request of server.requests) {
      expect(bodyOf(request) === expected).toBe(true);
      expect(request.match(/^content-length: .*$/gm)).toEqual([`content-length: ${expected.length}`]);
    }
    expect(server.sockets.length).toBe(1);
  });

  it.each(['GET', 'DELETE'] as const)('%s without one says no length', async (method) => {
    await start(echo);
    expect((await send(list, { method, body: null }).over).text).toBe('0');
    expect(server.requests[0]).toMatch(new RegExp(`^${method} /v1`));
    expect(server.requests[0]).not.toMatch(/content-length/);
  });

  it('is read no faster than the vendor takes it', async () => {
    let read = 0;
    const piece = Buffer.alloc(64 * 1024);
    const body: StreamedBody = {
      length: 400 * piece.length,
      async *read() {
        for (let index = 0; index < 400; index++) {
          read++;
          yield piece;
        }
      },
    };
    let socket: Socket | null = null;
    await start(echo, (accepted) => {
      socket = accepted.pause();
    });
    const heard = send(list, { body });
    await expect.poll(() => read).toBeGreaterThan(1);
    await delay(100);
    const taken = read;
    await delay(100);
    expect(read).toBe(taken);
    expect(read).toBeLessThan(300);
    (socket as Socket | null)!.resume();
    expect((await heard.over).text).toBe(`${body.length}`);
  });

  const faulty: readonly (readonly [name: string, body: StreamedBody, message: RegExp])[] = [
    ['that is shorter than it said', streamed(6, ['hello']), /shorter/],
    ['that is longer than it said', streamed(4, ['he', 'llo']), /longer/],
    ['that cannot be read', streamed(10, ['hello'], new Error('the disk is gone')), /the disk is gone/],
    [
      'that cannot be opened',
      {
        length: 5,
        read: () => {
          throw new Error('no such file');
        },
      },
      /no such file/,
    ],
  ];
  it.each(faulty)('%s breaks the connection', async (_name, body, message) => {
    await start(echo);
    const { failure } = await send(list, { body }).over;
    expect(failure).toMatchObject({ reason: 'reset', cause: { message: expect.stringMatching(message) } });
    await expect.poll(() => server.open()).toBe(0);
    expect(server.requests).toEqual([]);
  });

  it('is closed when the request is given up', async () => {
    let closed = false;
    const body: StreamedBody = {
      length: 1e9,
      async *read() {
        try {
          for (;;) {
            await delay(1);
            yield Buffer.alloc(100);
          }
        } finally {
          closed = true;
        }
      },
    };
    await start(echo);
    const heard = send(list, { body });
    await expect.poll(() => server.open()).toBe(1);
    await delay(20);
    heard.sending.abort();
    await expect.poll(() => closed).toBe(true);
    expect(heard.events).toEqual([]);
  });

  it.each([
    ['one Buffer', Buffer.alloc(30_000_000)],
    ['a body that is read', streamed(1e9, Array(1000).fill(Buffer.alloc(1000)))],
  ])(
    'an answer that comes before %s was sent whole is handed on; the connection is not used again',
    async (_name, body) => {
      let first = true;
      await start(echo, (socket) => {
        if (!first) return;
        first = false;
        socket.pause();
        setTimeout(() => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'), 20);
      });
      expect(await send(list, { body }).over).toMatchObject({ status: 413, text: 'big', failure: null });
      // Who does not read does not see that the other side is gone.
      server.sockets[0]!.resume();
      expect((await send(list).over).text).toBe('7');
      expect(server.sockets.length).toBe(2);
    },
  );
});

describe('a head', () => {
  it('a Host of the caller’s stands instead of the origin’s', async () => {
    await start(echo);
    await send(list, { headers: ['Host', 'vendor.test', 'a', 'b'] }).over;
    expect(server.requests[0]!.match(/^host: .*$/gim)).toEqual(['host: vendor.test']);
  });

  it('headers that go to two origins name each its own', async () => {
    await start(echo);
    const other = await startRawServer(echo);
    const others = new HttpConnections({ origin: other.origin, connectTimeout: 2_000 });
    const headers = ['a', 'b'];
    await send(list, { headers }).over;
    await send(others, { headers }).over;
    expect(server.requests[0]).toContain(`host: 127.0.0.1:${server.port}\r\n`);
    expect(other.requests[0]).toContain(`host: 127.0.0.1:${other.port}\r\n`);
    await others.close();
    await other.close();
  });

  it('a value in Latin-1 goes out as it is', async () => {
    await start(echo);
    await send(list, { headers: ['x-name', 'Gr\xfc\xdfe'] }).over;
    expect(server.requests[0]).toContain('x-name: Gr\xfc\xdfe\r\n');
  });

  const refused: readonly (readonly [name: string, request: Partial<UpstreamRequest>])[] = [
    ['CR LF in a value', { headers: ['a', 'b\r\nc: d'] }],
    ['LF in a value', { headers: ['a', 'b\nc'] }],
    ['CR in a value', { headers: ['a', 'b\rc'] }],
    ['NUL in a value', { headers: ['a', 'b\0'] }],
    ['a value outside of Latin-1', { headers: ['a', 'ж'] }],
    ['CR LF in a name', { headers: ['a\r\nb', 'c'] }],
    ['a colon in a name', { headers: ['a:b', 'c'] }],
    ['an empty name', { headers: ['', 'c'] }],
    ['a name without a value', { headers: ['a'] }],
    ['CR LF in the path', { path: '/a\r\nHost: evil' }],
    ['a blank in the path', { path: '/a HTTP/1.1' }],
    ['NUL in the path', { path: '/a\0' }],
    ['a path outside of Latin-1', { path: '/ж' }],
    ['an empty path', { path: '' }],
    ['a path without a slash', { path: 'v1' }],
    ['a length of the caller’s', { headers: ['Content-Length', '5'] }],
    ['an encoding of the caller’s', { headers: ['transfer-encoding', 'chunked'] }],
    ['a Connection of the caller’s', { headers: ['connection', 'close'] }],
  ];
  it.each(refused)(
    '%s is refused before anything is sent, and not before send has returned',
    async (_name, request) => {
      await start(echo);
      const heard = send(list, request);
      expect(heard.events).toEqual([]);
      expect((await heard.over).failure).toMatchObject({ reason: 'connect' });
      await delay(5);
      expect(server.sockets.length).toBe(0);
    },
  );

  it('what is refused and given up at once is not heard of', async () => {
    await start(echo);
    const heard = send(list, { path: '' });
    heard.sending.abort();
    await delay(5);
    expect(heard.events).toEqual([]);
  });
});
