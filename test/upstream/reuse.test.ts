/** Which connections carry a second request: a client's bytes never reach another. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import { Heard, type Play, type RawServer, send, startRawServer, whole } from './raw-server.ts';

let server: RawServer;
let list: HttpConnections;
const start = async (play: Play, onSocket?: (socket: Socket) => void) => {
  server = await startRawServer(play, undefined, onSocket);
  list = new HttpConnections({ origin: server.origin, connectTimeout: 2_000 });
};
afterEach(async () => {
  await list.close();
  await expect.poll(() => server.open()).toBe(0);
  await server.close();
});

const number = (path: string) => Number(/\/(\d+) HTTP/.exec(path)![1]);

describe('a connection is used again', () => {
  it('for one request after another, each written as it should be', async () => {
    await start((socket, _request, index) => socket.write(whole(`answer ${index}`)));
    for (let index = 0; index < 20; index++) expect((await send(list).over).text).toBe(`answer ${index}`);
    expect(server.sockets.length).toBe(1);
    expect(new Set(server.requests)).toEqual(
      new Set([
        `POST /v1/x?y=z HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
          'authorization: Bearer secret\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}',
      ]),
    );
  });

  it('from within the end of the answer before', async () => {
    await start((socket, _request, index) => socket.write(whole(`${index}`)));
    const second = new Heard();
    const first = new Heard();
    first.onEnd = () => send(list, {}, second);
    send(list, {}, first);
    expect((await second.over).text).toBe('1');
    expect(server.sockets.length).toBe(1);
  });

  it('the newest of the idle ones first', async () => {
    await start((socket, request) => setTimeout(() => socket.write(whole('x')), number(request) * 20));
    await Promise.all([3, 1, 2].map((turn) => send(list, { path: `/${turn}` }).over));
    expect(server.sockets.length).toBe(3);
    const last = server.sockets[[3, 1, 2].indexOf(3)]!;
    const before = server.sockets.map((socket) => socket.bytesRead);
    await send(list, { path: '/1' }).over;
    expect(server.sockets.filter((socket, index) => socket.bytesRead > before[index]!)).toEqual([last]);
  });

  it('after 204, 304, an empty body and chunks', async () => {
    const answers = [
      'HTTP/1.1 204 No Content\r\n\r\n',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n',
    ];
    await start((socket, _request, index) => socket.write(answers[index]!));
    for (const _answer of answers) expect((await send(list).over).failure).toBe(null);
    expect(server.sockets.length).toBe(1);
  });

  it('when its request was given up before a byte of it was sent', async () => {
    await start((socket) => socket.write(whole('x')));
    await send(list).over;
    const heard = send(list);
    heard.sending.abort();
    await delay(20);
    expect((await send(list).over).text).toBe('x');
    expect({ events: heard.events, sockets: server.sockets.length, requests: server.requests.length }).toEqual({
      events: [],
      sockets: 1,
      requests: 2,
    });
  });
});

describe('a connection is not used again', () => {
  const once: readonly (readonly [name: string, play: (socket: Socket) => void, body: string])[] = [
    ['after Connection: close', (socket) => socket.write(whole('x', 'Connection: close\r\n')), 'x'],
    ['after HTTP/1.0', (socket) => socket.write('HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx'), 'x'],
    ['after a body without a length', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nxyz'), 'xyz'],
    ['after bytes behind the end', (socket) => socket.write(`${whole('x')}\r\n`), 'x'],
    ['after a second answer nobody asked for', (socket) => socket.write(whole('x') + whole('evil')), 'x'],
    ['after a 204 that announces a body', (socket) => socket.write('HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\nx'), ''],
    ['after Keep-Alive: timeout=1', (socket) => socket.write(whole('x', 'Keep-Alive: timeout=1\r\n')), 'x'],
    [
      'after bytes that came while it was idle',
      (socket) => {
        socket.write(whole('x'));
        setTimeout(() => socket.write(whole('evil')), 10);
      },
      'x',
    ],
    [
      'after the vendor closed it',
      (socket) => {
        socket.write(whole('x'));
        setTimeout(() => socket.end(), 10);
      },
      'x',
    ],
    [
      'after the vendor reset it',
      (socket) => {
        socket.write(whole('x'));
        setTimeout(() => socket.resetAndDestroy(), 10);
      },
      'x',
    ],
  ];
  it.each(once)('%s', async (_name, play, body) => {
    await start((socket, _request, index) => (index === 0 ? play(socket) : void socket.write(whole('second'))));
    expect(await send(list).over).toMatchObject({ failure: null, text: body });
    await delay(30);
    expect(server.sockets[0]!.closed).toBe(true);
    expect(await send(list).over).toMatchObject({ failure: null, text: 'second' });
    expect(server.sockets.length).toBe(2);
  });

  it('an answer that was there before the request is not taken for the answer to it', async () => {
    await start((socket, request) => {
      socket.write(whole(request.includes('/first') ? 'first' : 'second'));
      if (request.includes('/first')) setImmediate(() => socket.write(whole('evil')));
    });
    for (let round = 0; round < 50; round++) {
      const second = new Heard();
      const first = new Heard();
      first.onEnd = () => send(list, { path: '/second' }, second);
      send(list, { path: '/first' }, first);
      expect(await second.over).toMatchObject({ failure: null, text: 'second' });
    }
  });

  it('a request that meets a vendor just closing goes on a fresh connection, once it is known', async () => {
    await start((socket, request) => {
      socket.write(whole('x'));
      if (request.includes('/first')) setImmediate(() => socket.end());
    });
    for (let round = 0; round < 50; round++) {
      const second = new Heard();
      const first = new Heard();
      first.onEnd = () => send(list, { path: '/second' }, second);
      send(list, { path: '/first' }, first);
      expect(await second.over).toMatchObject({ failure: null, text: 'x' });
    }
  });

  it('a vendor that answers twice to everything never mixes two clients', async () => {
    await start((socket, request) => {
      const answer = whole(`${number(request)}`);
      socket.write(answer);
      if (number(request) % 3 === 0) socket.write(answer);
      if (number(request) % 3 === 1) setImmediate(() => socket.write(answer));
    });
    const wrong: string[] = [];
    const client = async (first: number) => {
      for (let index = first; index < first + 30; index++) {
        const { failure, text } = await send(list, { path: `/${index}` }).over;
        if (failure !== null || text !== `${index}`) wrong.push(`${index} got ${text}`);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, index) => client(index * 100)));
    expect(wrong).toEqual([]);
  });
});

describe('an idle connection ends', () => {
  it('two seconds before the vendor would end it', async () => {
    await start((socket) => socket.write(whole('x', 'Keep-Alive: timeout=3\r\n')));
    await send(list).over;
    await delay(500);
    expect(server.open()).toBe(1);
    await expect.poll(() => server.open(), { timeout: 3_000 }).toBe(0);
    expect((await send(list).over).text).toBe('x');
  });

  it('a reset of a connection that was idle is told as a reset, when the request was out', async () => {
    await start((socket, _request, index) => {
      if (index === 0) socket.write(whole('x'));
      else socket.resetAndDestroy();
    });
    await send(list).over;
    expect((await send(list).over).failure).toMatchObject({ reason: 'reset' });
    expect(server.sockets.length).toBe(1);
  });
});

describe('closing', () => {
  it('breaks what is going on and leaves no socket; later requests are refused', async () => {
    await start((socket, _request, index) => void (index === 0 ? socket.write(whole('x')) : 0));
    await send(list).over;
    const waiting = [send(list), send(list), send(list)];
    await expect.poll(() => server.requests.length).toBe(4);
    await list.close();
    for (const heard of waiting) expect((await heard.over).failure).toMatchObject({ reason: 'reset' });
    expect((await send(list).over).failure).toMatchObject({ reason: 'connect' });
    await expect.poll(() => server.open()).toBe(0);
  });
});
