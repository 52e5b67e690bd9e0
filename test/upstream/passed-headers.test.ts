/** Headers of a client's that its vendor gets too. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { VendorSocket } from '../../engine/upstream/socket.ts';
import { startStack } from '../kit/stack.ts';

it('a client’s header that no vendor may get is its own mistake: 400, and the channel goes on serving others', async () => {
  const stack = await startStack();
  const body = JSON.stringify({
    model: 'demo-claude',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'x' }],
  });
  const ask = (beta: string) => {
    const socket = connect(Number(new URL(stack.base).port), '127.0.0.1');
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${stack.key}\r\n` +
        `content-type: application/json\r\nanthropic-version: 2023-06-01\r\n${beta}` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    return text(socket);
  };
  try {
    for (let round = 0; round < 10; round++)
      expect(await ask('anthropic-beta: a\x7fb\r\n')).toMatch(/^HTTP\/1.1 400 .*anthropic-beta holds a control/s);
    expect(await ask('')).toMatch(/^HTTP\/1.1 200 /);
  } finally {
    await stack.close();
  }
});

it('a realtime handshake with such a header is refused with 400', async () => {
  const stack = await startStack();
  try {
    const socket = connect(Number(new URL(stack.base).port), '127.0.0.1');
    socket.write(
      `GET /v1/realtime?model=demo-realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n` +
        `authorization: Bearer ${stack.key}\r\nopenai-beta: a\x7fb\r\n\r\n`,
    );
    const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1.1 400 .*openai-beta holds a control/s);
  } finally {
    await stack.close();
  }
});

it('a socket whose handshake cannot be written throws at once, and nothing of it expires later', async () => {
  const heard: unknown[] = [];
  const hear = (event: unknown) => void heard.push(event);
  const receiver = { onMessage: hear, onPong: () => {}, onRefused: hear, onBroken: hear, onClose: hear };
  const headers = ['openai-beta', 'a\x7fb'];
  const request = { url: 'ws://127.0.0.1:9/', headers, connectTimeout: 100, firstMessageTimeout: 100 };
  expect(() => new VendorSocket({ ...request, largestMessage: 1000 }, receiver)).toThrow('Invalid character');
  // A deadline left behind would end the process here.
  await delay(250);
  expect(heard).toEqual([]);
});
