/** What comes from a vendor: failures of each kind, slow readers, requests that are given up, large answers. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import { Heard, type Play, type RawServer, send, startRawServer, whole } from './raw-server.ts';

let server: RawServer;
let list: HttpConnections;
const start = async (play: Play) => {
  server = await startRawServer(play);
  list = new HttpConnections({ origin: server.origin, connectTimeout: 2_000 });
};
afterEach(async () => {
  await list.close();
  await expect.poll(() => server.open()).toBe(0);
  await server.close();
});

const ok = 'HTTP/1.1 200 OK\r\n';

describe('what goes wrong', () => {
  const failures: readonly (readonly [name: string, play: Play, events: readonly string[], reason: string])[] = [
    ['no HTTP', (socket) => socket.write('220 smtp.test ready\r\n'), ['broken'], 'reset'],
    ['closed before a byte', (socket) => socket.end(), ['broken'], 'reset'],
    ['reset before a byte', (socket) => socket.resetAndDestroy(), ['broken'], 'reset'],
    ['closed within the head', (socket) => socket.end(`${ok}Content-Le`), ['broken'], 'reset'],
    [
      'closed within a length',
      (socket) => socket.end(`${ok}Content-Length: 9\r\n\r\nhi`),
      ['head', 'data', 'broken'],
      'reset',
    ],
    [
      'closed within a chunk',
      (socket) => socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhi`),
      ['head', 'data', 'broken'],
      'reset',
    ],
    [
      'closed before the last chunk',
      (socket) => socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n`),
      ['head', 'data', 'broken'],
      'reset',
    ],
    [
      'a bad chunk behind good ones',
      (socket) => socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nx`),
      ['head', 'data', 'broken'],
      'reset',
    ],
    [
      'a length and chunks',
      (socket) => socket.write(`${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nhi`),
      ['broken'],
      'reset',
    ],
    ['101', (socket) => socket.write('HTTP/1.1 101 x\r\nUpgrade: h2c\r\n\r\n'), ['broken'], 'reset'],
    ['no answer in time', () => {}, ['broken'], 'timeout'],
    ['only an interim head in time', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), ['broken'], 'timeout'],
    ['half a head in time', (socket) => socket.write(`${ok}Content-`), ['broken'], 'timeout'],
    [
      'an answer that stalls',
      (socket) => socket.write(`${ok}Content-Length: 9\r\n\r\nhi`),
      ['head', 'data', 'broken'],
      'timeout',
    ],
    [
      'an answer that stalls behind its head',
      (socket) => socket.write(`${ok}Content-Length: 9\r\n\r\n`),
      ['head', 'broken'],
      'timeout',
    ],
  ];
  it.each(failures)('%s', async (_name, play, events, reason) => {
    await start(play);
    const heard = await send(list, { firstByteTimeout: 150, idleTimeout: 150 }).over;
    expect({ events: heard.events, reason: heard.failure?.reason }).toEqual({ events, reason });
    await expect.poll(() => server.open()).toBe(0);
    await delay(5);
    expect(heard.events).toEqual(events);
  });

  it('a reset within a body without a length is no end of it', async () => {
    await start((socket) => {
      socket.write(`${ok}\r\nhello`);
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    expect(await send(list).over).toMatchObject({ text: 'hello', failure: { reason: 'reset' } });
  });

  it('nobody listens', async () => {
    await start(() => {});
    const closed = await startRawServer(() => {});
    await closed.close();
    const nowhere = new HttpConnections({ origin: closed.origin, connectTimeout: 2_000 });
    const { failure } = await send(nowhere).over;
    expect(failure).toMatchObject({ reason: 'connect', cause: { message: expect.stringMatching(/ECONNREFUSED/) } });
    await nowhere.close();
  });

  it('a name that leads to several addresses says what went wrong with them', async () => {
    await start(() => {});
    const closed = await startRawServer(() => {});
    await closed.close();
    const nowhere = new HttpConnections({ origin: `http://localhost:${closed.port}`, connectTimeout: 2_000 });
    const { failure } = await send(nowhere).over;
    expect(failure).toMatchObject({ reason: 'connect', cause: { message: expect.stringMatching(/ECONNREFUSED/) } });
    await nowhere.close();
  });

  it('no connection in time', async () => {
    await start(() => {});
    // Towards a server that says nothing a TLS handshake takes as long as one likes.
    const silent = new HttpConnections({ origin: `https://127.0.0.1:${server.port}`, connectTimeout: 150 });
    const heard = await send(silent).over;
    expect(heard.failure).toMatchObject({ reason: 'connect', cause: { message: 'no connection within 150 ms' } });
    const sooner = await send(silent, { firstByteTimeout: 60 }).over;
    expect(sooner.failure).toMatchObject({ reason: 'connect', cause: { message: 'no answer in time' } });
    await silent.close();
  });
});

describe('a request that is given up', () => {
  const stages: readonly (readonly [name: string, play: Play, ready: (heard: Heard) => boolean])[] = [
    ['before there is a connection', () => {}, () => true],
    ['before the head', () => {}, () => server.requests.length === 1],
    ['within the head', (socket) => socket.write(`${ok}Content`), () => server.requests.length === 1],
    ['behind the head', (socket) => socket.write(`${ok}Content-Length: 9\r\n\r\n`), (heard) => heard.status === 200],
    ['within the body', (socket) => socket.write(`${ok}Content-Length: 9\r\n\r\nhi`), (heard) => heard.text === 'hi'],
    [
      'within a chunk',
      (socket) => socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n9\r\nhi`),
      (heard) => heard.text === 'hi',
    ],
  ];
  it.each(stages)('%s cuts the vendor off and hears nothing more', async (_name, play, ready) => {
    await start(play);
    const heard = send(list);
    await expect.poll(() => ready(heard)).toBe(true);
    const events = [...heard.events];
    heard.sending.abort();
    heard.sending.abort();
    heard.sending.resume();
    await expect.poll(() => server.open()).toBe(0);
    await delay(10);
    expect(heard.events).toEqual(events);
  });

  it.each(['head', 'data'] as const)('from within its own %s', async (stage) => {
    await start((socket) => socket.write(whole('hello')));
    const heard = new Heard();
    if (stage === 'head') heard.onHead = () => heard.sending.abort();
    else
      heard.goesOn = () => {
        heard.sending.abort();
        return true;
      };
    send(list, {}, heard);
    await expect.poll(() => server.sockets.length).toBe(1);
    await expect.poll(() => server.open()).toBe(0);
    expect(heard.events).not.toContain('end');
  });

  it('after its end does nothing to the next on its connection', async () => {
    await start((socket) => setTimeout(() => socket.write(whole('x')), 10));
    const first = await send(list).over;
    const second = send(list);
    first.sending.abort();
    first.sending.resume();
    await delay(2);
    first.sending.abort();
    expect((await second.over).text).toBe('x');
    expect(server.sockets.length).toBe(1);
  });
});

describe('a receiver that throws', () => {
  it.each(['onHead', 'onData'] as const)('in %s hears that it broke, and the connection ends', async (method) => {
    await start((socket) => socket.write(whole('hello')));
    const heard = new Heard();
    heard[method] = () => {
      throw new Error('a fault of ours');
    };
    send(list, {}, heard);
    expect((await heard.over).failure).toMatchObject({ reason: 'reset', cause: { message: 'a fault of ours' } });
    await expect.poll(() => server.open()).toBe(0);
  });

  it.each(['onEnd', 'onBroken'] as const)('in %s is warned of, and nothing else happens', async (method) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await start((socket, _request, index) => {
      if (index === 0 && method === 'onBroken') socket.resetAndDestroy();
      else socket.write(whole('hello'));
    });
    const heard = new Heard();
    heard[method] = () => {
      throw new Error('a fault of ours');
    };
    send(list, {}, heard);
    await expect.poll(() => warned.mock.calls.length).toBe(1);
    expect(warned.mock.calls[0]![0]).toMatchObject({ message: 'a fault of ours' });
    warned.mockRestore();
    expect((await send(list).over).text).toBe('hello');
  });
});

describe('a reader that is slow', () => {
  const framings: readonly (readonly [name: string, head: string, frame: (piece: Buffer) => Buffer, end: string])[] = [
    ['a length', `${ok}Content-Length: ${400 * 50_000}\r\n\r\n`, (piece) => piece, ''],
    [
      'chunks',
      `${ok}Transfer-Encoding: chunked\r\n\r\n`,
      (piece) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
      '0\r\n\r\n',
    ],
    ['the end of the connection', `${ok}\r\n`, (piece) => piece, ''],
  ];
  const play =
    (head: string, frame: (piece: Buffer) => Buffer, end: string, sent: { bytes: number }): Play =>
    (socket) => {
      socket.write(head);
      let index = 0;
      const more = () => {
        while (index < 400) {
          const piece = Buffer.alloc(50_000, index++);
          sent.bytes += piece.length;
          if (!socket.write(frame(piece))) return void socket.once('drain', more);
        }
        if (end === '' && !head.includes('Length')) socket.end();
        else socket.write(end);
      };
      more();
    };

  it.each(framings)('pauses the vendor, and gets everything in its order: %s', async (_name, head, frame, end) => {
    const sent = { bytes: 0 };
    await start(play(head, frame, end, sent));
    const heard = new Heard();
    heard.goesOn = () => false;
    send(list, {}, heard);
    await expect.poll(() => heard.chunks.length).toBe(1);
    await delay(200);
    expect(heard.events).toEqual(['head', 'data']);
    expect(sent.bytes).toBeLessThan(15_000_000);
    for (let index = 0; index < 10; index++) {
      heard.sending.resume();
      await delay(5);
    }
    heard.goesOn = () => true;
    heard.sending.resume();
    expect((await heard.over).failure).toBe(null);
    const { body } = heard;
    expect(body.length).toBe(400 * 50_000);
    for (let index = 0; index < 400; index++) expect(body[index * 50_000 + 49_999]).toBe(index % 256);
  });

  it('is the reason of the silence: the vendor does not stall meanwhile, but it may afterwards', async () => {
    await start((socket) => socket.write(`${ok}Content-Length: 9\r\n\r\nhello`));
    const heard = new Heard();
    heard.goesOn = () => false;
    send(list, { idleTimeout: 150 }, heard);
    await expect.poll(() => heard.text).toBe('hello');
    await delay(400);
    expect(heard.events).toEqual(['head', 'data']);
    heard.sending.resume();
    expect((await heard.over).failure).toMatchObject({ reason: 'timeout', cause: { message: 'the answer stalled' } });
  });

  it('hears of the end only when it goes on', async () => {
    await start((socket) => socket.write(whole('hello')));
    const heard = new Heard();
    heard.goesOn = () => false;
    send(list, {}, heard);
    await expect.poll(() => heard.text).toBe('hello');
    await delay(30);
    expect(heard.events).toEqual(['head', 'data']);
    heard.sending.resume();
    expect(heard.events).toEqual(['head', 'data', 'end']);
    expect((await send(list).over).text).toBe('hello');
    expect(server.sockets.length).toBe(1);
  });

  it('can give up while it is paused', async () => {
    await start((socket) => socket.write(`${ok}Content-Length: 99999999\r\n\r\n${'x'.repeat(5_000_000)}`));
    const heard = new Heard();
    heard.goesOn = () => false;
    send(list, {}, heard);
    await expect.poll(() => heard.chunks.length).toBe(1);
    heard.sending.abort();
    await expect.poll(() => server.open()).toBe(0);
    expect(heard.events).toEqual(['head', 'data']);
  });
});

describe('many chunks of one read', () => {
  it('are handed on at once', async () => {
    const frames = Array.from({ length: 50 }, (_, index) => `6\r\nabc${String(index).padStart(3, '0')}\r\n`).join('');
    await start((socket) => socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n${frames}0\r\n\r\n`));
    const heard = await send(list).over;
    expect(heard.events).toEqual(['head', 'data', 'end']);
    expect(heard.text.length).toBe(300);
  });
});

describe('large answers', () => {
  const size = 8 * 1024 * 1024;
  const body = Buffer.alloc(size);
  for (let index = 0; index < size; index += 4) body.writeUInt32LE((index * 2_654_435_761) >>> 0, index);
  const expected = createHash('sha256').update(body).digest('hex');
  const writeChunked = (socket: Socket) => {
    socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`);
    for (let at = 0; at < size; ) {
      const length = Math.min(size - at, 1 + ((at * 7919) % 200_000));
      socket.write(`${length.toString(16)}\r\n`);
      socket.write(body.subarray(at, at + length));
      socket.write('\r\n');
      at += length;
    }
    socket.write('0\r\n\r\n');
  };
  const answers: Readonly<Record<string, Play>> = {
    'a length, kept': (socket) => {
      socket.write(`${ok}Content-Length: ${size}\r\n\r\n`);
      socket.write(body);
    },
    'a length, closed': (socket) => {
      socket.write(`${ok}Content-Length: ${size}\r\nConnection: close\r\n\r\n`);
      socket.end(body);
    },
    'chunks, kept': writeChunked,
    'no length': (socket) => {
      socket.write(`${ok}\r\n`);
      socket.end(body);
    },
  };

  it.each(Object.keys(answers))(
    'of 8 MB come whole, to quick and slow readers: %s',
    async (name) => {
      await start(answers[name]!);
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, async (_, client) => {
          const seen: string[] = [];
          for (let round = 0; round < 2; round++) {
            const heard = new Heard();
            if (client % 2 === 1)
              heard.goesOn = () => {
                if (heard.chunks.length % 8 !== 0) return true;
                setTimeout(() => heard.sending.resume(), client - 1);
                return false;
              };
            send(list, {}, heard);
            await heard.over;
            seen.push(heard.failure?.cause.message ?? createHash('sha256').update(heard.body).digest('hex'));
          }
          return seen;
        }),
      );
      expect(new Set(outcomes.flat())).toEqual(new Set([expected]));
    },
    30_000,
  );
});
