/** Uploads of image edits: their texts are UTF-8, and one that goes on coming is not given up. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectError, generate, png } from './images-kit.ts';

const boundary = 'edge';
const field = (name: string, value: string | Buffer): (string | Buffer)[] => [
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`,
  value,
  '\r\n',
];
const head = 'Content-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png';
const formWith = (prompt: string | Buffer, image = png()): Buffer =>
  Buffer.concat(
    [
      ...field('model', 'alpha-image-1k'),
      ...field('prompt', prompt),
      `--${boundary}\r\n${head}\r\n\r\n`,
      image,
      `\r\n--${boundary}--\r\n`,
    ].map((part) => Buffer.from(part as string)),
  );

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    edit({ gateway }) {
      gateway.body = { receiveTimeout: '2s' };
    },
  });
});
afterAll(() => stack.close());

it('2.2 a prompt that is no UTF-8 is 400, and no vendor is asked', async () => {
  const answer = await fetch(`${stack.base}/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: new Uint8Array(formWith(Buffer.from([0x41, 0xff, 0xfe, 0xc3, 0x28]))),
  });
  await expectError(answer, 400, 'invalid_utf8');
  expect(stack.simulator.received).toHaveLength(0);
});

it('4.3 an upload that goes on coming may take longer than the client may be silent', async () => {
  const body = formWith('fox', Buffer.concat([png(), Buffer.alloc(400_000)]));
  const socket = connect(Number(new URL(stack.gateway.url).port), '127.0.0.1');
  const answered = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('"data"') || text.includes('"error"')) resolve(text);
    });
  });
  socket.write(
    `POST /v1/images/edits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stack.key}\r\n` +
      `Content-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const pieces = 14;
  for (let index = 0; index < pieces; index++) {
    const at = (step: number) => Math.floor((body.length * step) / pieces);
    socket.write(body.subarray(at(index), at(index + 1)));
    await delay(250);
  }
  expect(await answered).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
});

it('2.5 a format that is no picture of pixels is refused before anybody draws it', async () => {
  stack.simulator.reset();
  const answer = await generate(stack, { model: 'alpha-image-1k', output_format: 'svg' });
  await expectError(answer, 400, 'unsupported_parameter', 'output_format');
  expect(stack.simulator.received).toHaveLength(0);
});
