/** Headers of a client's that its vendor gets too. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
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
