/** Vendors that speak no proper HTTP: nothing of it may reach the client or end the process. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { chatBody, chunk, done, errorOf, lastRow, startChannels, streamError, usageChunk } from './chat-support.ts';

let stack: Stack;
let server: Server;
const sockets = new Set<Socket>();
afterEach(async () => {
  await stack.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => server.close(resolve));
});

/** Calls `answer` for each request that arrives on a raw connection. */
async function startRaw(answer: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (bytes.includes('POST ')) answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const never = { failures: 1_000_000, first: '1ms', longest: '1ms' };
/** Two channels at the same origin, so that the second attempt takes the connections that the first one spoiled. */
const startTwins = async (baseUrl: string) => {
  const twin = { baseUrl, cooldown: never, timeouts: { firstByte: '300ms', idle: '300ms' } };
  stack = await startChannels({ one: twin, two: twin });
};

const body = '{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}';
const whole = (head: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${head}\r\n${body}`;
const events = (text: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream\r\ntransfer-encoding: chunked\r\n\r\n${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe('7 a vendor that speaks no HTTP', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['garbage', (socket) => socket.end('\u0000\u0001 no http at all\r\n\r\n')],
    ['nothing and a close', (socket) => socket.end()],
    ['a reset', (socket) => socket.resetAndDestroy()],
    ['half a head', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-ty')],
    ['an endless head', (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`)],
    [
      'a switch of protocols',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    ['two lengths', (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef`)],
    ['broken chunks', (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n')],
    ['a head that never ends', (socket) => socket.write('HTTP/1.1 200 OK\r\nx')],
    ['204', (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n')],
    [
      'a redirect',
      (socket) => socket.write('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
    ],
    [
      'an endless error',
      (socket) => {
        socket.write('HTTP/1.1 500 Oops\r\ntransfer-encoding: chunked\r\n\r\n');
        socket.write(`80000\r\n${'x'.repeat(0x80000)}\r\n`);
      },
    ],
  ])('7 %s: 502 or 504 after both channels, whole and streamed, and the next one is served', async (_name, answer) => {
    let spoiled = true;
    const baseUrl = await startRaw((socket) => (spoiled ? answer(socket) : socket.write(whole(''))));
    await startTwins(baseUrl);
    for (const stream of [false, true, false]) {
      const response = await stack.post('/chat/completions', chatBody('hi', { stream }));
      expect([502, 504]).toContain(response.status);
      expect((await errorOf(response)).code).toMatch(/^upstream_/);
      expect(await lastRow(stack)).toMatchObject({ outcome: 'error', attempts: 2, quota: 0 });
    }
    spoiled = false;
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(body);
  });

  it('7 an endless body of a 400 still is a 400', async () => {
    const baseUrl = await startRaw((socket) => {
      socket.write('HTTP/1.1 400 Bad\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write(`80000\r\n${'x'.repeat(0x80000)}\r\n`);
    });
    await startTwins(baseUrl);
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.status).toBe(400);
    expect(await lastRow(stack)).toMatchObject({ attempts: 1 });
  });

  it('7 103 Early Hints are no answer', async () => {
    const baseUrl = await startRaw((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${whole('')}`));
    await startTwins(baseUrl);
    expect((await stack.post('/chat/completions', chatBody('hi'))).status).toBe(200);
  });

  it('7 bytes behind a whole answer spoil neither it nor the next one', async () => {
    const baseUrl = await startRaw((socket) =>
      socket.write(`${whole('')}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad`),
    );
    await startTwins(baseUrl);
    for (let round = 0; round < 4; round++) {
      const response = await stack.post('/chat/completions', chatBody('hi'));
      expect(await response.text()).toBe(body);
    }
  });

  it('7 a connection that the vendor closes while idle is not used again', async () => {
    const baseUrl = await startRaw((socket) => {
      socket.write(whole(''));
      setTimeout(() => socket.end(), 20);
    });
    await startTwins(baseUrl);
    for (let round = 0; round < 5; round++) {
      const response = await stack.post('/chat/completions', chatBody('hi'));
      expect(response.status).toBe(200);
      await response.text();
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    expect(await lastRow(stack)).toMatchObject({ attempts: 1 });
  });
});

describe('6.2 a vendor that does not stop', () => {
  it('6.2 whose connection stays open behind [DONE]: the client is done at once', async () => {
    const baseUrl = await startRaw((socket) =>
      socket.write(events(chunk('a') + chunk('', 'stop') + usageChunk(4, 2) + done)),
    );
    const twin = { baseUrl, cooldown: never };
    stack = await startChannels({ one: twin });
    const response = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(await response.text()).toBe(chunk('a') + chunk('', 'stop') + done);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', inputTokens: 4, usageSource: 'measured' });
  });

  it('6.2 the same for a client of another protocol', async () => {
    const baseUrl = await startRaw((socket) =>
      socket.write(events(chunk('a') + chunk('', 'stop') + usageChunk(4, 2) + done)),
    );
    stack = await startChannels({ one: { baseUrl, cooldown: never, protocols: ['openai-chat'] } });
    const response = await stack.post('/completions', { model: 'demo-chat', prompt: 'hi', stream: true });
    expect(await response.text()).toMatch(/"text":"a".*data: \[DONE\]\n\n$/s);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', inputTokens: 4, usageSource: 'measured' });
  });

  it('6.2 whose stream begins with an error and stays open: the next channel is asked at once', async () => {
    let closed = false;
    const baseUrl = await startRaw((socket) => {
      socket.on('close', () => {
        closed = true;
      });
      socket.write(events('data: {"error":{"message":"busy","type":"server_error","code":null,"param":null}}\n\n'));
    });
    stack = await startChannels({ one: { baseUrl, cooldown: never, priority: 2 }, good: {} });
    const started = Date.now();
    const response = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^data: .*東京.*data: \[DONE\]\n\n$/s);
    expect(Date.now() - started).toBeLessThan(3_000);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', channel: 'good', attempts: 2 });
    await expect.poll(() => closed).toBe(true);
  });

  it('6.2 that talks on behind [DONE] is cut off, and nothing of it is sent', async () => {
    let closed = false;
    const baseUrl = await startRaw((socket) => {
      socket.on('close', () => {
        closed = true;
      });
      socket.write(events(chunk('a') + chunk('', 'stop') + done));
      const text = chunk('more');
      const timer = setInterval(() => socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`), 20);
      socket.on('close', () => clearInterval(timer));
    });
    stack = await startChannels({ one: { baseUrl, cooldown: never } });
    const response = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(await response.text()).not.toContain('more');
    await expect.poll(() => closed).toBe(true);
  });

  it('6.2 a stream of HTTP/1.0 that just ends is whole only with its finish', async () => {
    let text = '';
    const baseUrl = await startRaw((socket) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${text}`),
    );
    await startTwins(baseUrl);
    text = chunk('a') + chunk('', 'stop');
    const good = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(await good.text()).toBe(text + done);
    text = chunk('a');
    const broken = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(streamError(await broken.text())).toMatchObject({ code: 'upstream_error' });
  });
});
