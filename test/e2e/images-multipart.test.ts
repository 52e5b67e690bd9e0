/** Uploads (spec 2.2, 4.3): field names, damaged and oversized bodies. Written by hand over sockets where no client would. */
import { createConnection } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectAudit, expectError, formOf, jsonOf, money, png, sendForm, sent, stored } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    edit({ routes, gateway }) {
      for (const route of routes.routes) if (route.path === '/v1/images/edits') route.bodyLimit = '64mb';
      gateway.body = { receiveTimeout: '3s' };
    },
  });
});
afterEach(() => stack.simulator.reset());
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
});

const alpha = 'alpha-image-1k';

describe('fields', () => {
  it.each([
    [['image'], ['image']],
    [
      ['image', 'image'],
      ['image[]', 'image[]'],
    ],
    [['image[]'], ['image']],
    [
      ['image[]', 'image[]', 'image[]'],
      ['image[]', 'image[]', 'image[]'],
    ],
    [
      ['image[0]', 'image[1]'],
      ['image[]', 'image[]'],
    ],
  ])('4.3 files in %j reach the vendor as %j', async (names, upstream) => {
    const files = names.map((field, index) => ({ field, bytes: png(index) }));
    const response = await sendForm(stack, formOf({ model: alpha, prompt: 'p' }, files));
    expect(response.status).toBe(200);
    const received = sent(stack).files;
    expect(received.map((file: { field: string }) => file.field)).toEqual(upstream);
    received.forEach((file: { bytes: Buffer }, index: number) => {
      expect(file.bytes.equals(png(index))).toBe(true);
    });
  });

  it('2.2 the type of a file is what its bytes say, its name cannot end the header', async () => {
    const form = formOf({ model: alpha, prompt: 'p' }, [
      { field: 'image', bytes: png(), type: 'application/octet-stream', name: 'a"\r\nX-Evil: 1\r\n.png' },
    ]);
    expect((await sendForm(stack, form)).status).toBe(200);
    const raw = stack.simulator.received[0]!.raw.toString('latin1');
    expect(raw).toContain('Content-Type: image/png');
    expect(raw).not.toMatch(/^X-Evil/im);
  });

  it('2.2 text is UTF-8', async () => {
    const form = formOf({ model: alpha, prompt: 'Füchse im Nebel – 狐' }, [{ field: 'image', bytes: png() }]);
    expect((await sendForm(stack, form)).status).toBe(200);
    expect(sent(stack).fields.prompt).toBe('Füchse im Nebel – 狐');
  });
});

const part = (headers: string, body: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`--B\r\n${headers}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value);
const image = (bytes: Buffer = png()) =>
  part('Content-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png', bytes);
const end = Buffer.from('--B--\r\n');
const whole = Buffer.concat([field('model', alpha), field('prompt', 'p'), image(), end]);

const many = (count: number, make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

const sendRaw = (body: Buffer, contentType = 'multipart/form-data; boundary=B') =>
  fetch(`${stack.base}/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': contentType },
    body: new Uint8Array(body),
  });

describe('damaged bodies', () => {
  it('4.3 the undamaged one works', async () => {
    const response = await sendRaw(whole);
    expect(response.status).toBe(200);
    await stored(stack, (await jsonOf(response)).data[0].url);
  });

  it.each<[string, Buffer, string?]>([
    ['cut in a file', whole.subarray(0, whole.length - 40)],
    ['cut before the closing boundary', whole.subarray(0, whole.length - end.length)],
    ['cut in a header', whole.subarray(0, 30)],
    ['empty', Buffer.alloc(0)],
    ['without a boundary in the header', whole, 'multipart/form-data'],
    ['with an empty boundary', whole, 'multipart/form-data; boundary='],
    ['with another boundary', whole, 'multipart/form-data; boundary=C'],
    ['with a field of more than 1 MB', Buffer.concat([field('prompt', 'x'.repeat(1_100_000)), whole])],
    ['with 65 files', Buffer.concat([many(65, () => image()), whole])],
    ['with 200 fields', Buffer.concat([many(200, (index) => field(`f${index}`, 'x')), whole])],
    ['with binary garbage', Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 256))],
    ['with garbage in a header', Buffer.concat([part('\u0000\u0001:::', 'x'), field('model', alpha), image(), end])],
    ['with a header that never ends', Buffer.concat([Buffer.from('--B\r\nX-A: '), Buffer.alloc(200_000, 0x61)])],
    ['with a name of 10 KB', Buffer.concat([field('n'.repeat(10_000), 'x'), whole])],
    ['with a text that has no name', Buffer.concat([part('Content-Disposition: form-data', 'x'), whole])],
    [
      'with a file that has no name',
      Buffer.concat([
        part('Content-Disposition: form-data; filename="a.png"\r\nContent-Type: image/png', png()),
        whole,
      ]),
    ],
  ])('4.3 a body %s is 400 and charged nothing', async (_name, body, contentType) => {
    const before = await money(stack);
    const response = await sendRaw(body, contentType);
    expect(response.status).toBe(400);
    const { error } = await jsonOf(response);
    expect(['invalid_multipart', 'missing_image', 'unsupported_parameter', 'missing_required_parameter']).toContain(
      error.code,
    );
    expect(stack.simulator.received).toHaveLength(0);
    expect(await money(stack)).toEqual(before);
  });

  it('2.2 fields named after object members do no harm', async () => {
    const body = Buffer.concat([field('__proto__', '{"a":1}'), field('constructor', 'x'), whole]);
    const response = await sendRaw(body);
    // The vendor judges unknown fields.
    expect(response.status).toBe(400);
    expect((await jsonOf(response)).error.message).toMatch(/constructor|__proto__/);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });
});

describe('size and time', () => {
  it('4.3 20 MB reach the vendor unchanged, several times', async () => {
    const big = Buffer.concat([png(), Buffer.alloc(20_000_000, 7)]);
    const files = [{ field: 'image', bytes: big }];
    for (let turn = 0; turn < 4; turn++) {
      stack.simulator.reset();
      const response = await sendForm(stack, formOf({ model: alpha, prompt: 'p' }, files));
      expect(response.status).toBe(200);
      expect(sent(stack).files[0].bytes.equals(big)).toBe(true);
    }
  });

  it('7 413: a body beyond the limit; the client receives the answer while it still sends', async () => {
    const response = await sendRaw(Buffer.concat([image(Buffer.alloc(80_000_000)), end]));
    await expectError(response, 413, 'body_too_large');
    const json = await stack.post('/images/generations', { model: alpha, prompt: 'x'.repeat(2_000_000) });
    await expectError(json, 413, 'body_too_large');
    expect(stack.simulator.received).toHaveLength(0);
  });

  const raw = (send: (write: (bytes: Buffer | string) => void) => void): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(stack.base);
      const socket = createConnection({ host: hostname, port: Number(port) });
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        if (Buffer.concat(chunks).includes('\r\n\r\n')) socket.destroy();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
      socket.write(
        `POST /v1/images/edits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stack.key}\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 5000000\r\n\r\n`,
      );
      send((bytes) => socket.write(bytes));
    });

  it('7 408: an upload that stops is given up', async () => {
    const answer = await raw((write) => write(whole.subarray(0, 200)));
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('request_timeout');
  });

  it('7 a damaged upload is answered at once, not after its rest', async () => {
    const started = Date.now();
    const answer = await raw((write) => write(many(200, (index) => field(`f${index}`, 'x'))));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(Date.now() - started).toBeLessThan(2500);
  });

  it('7 a client that leaves in the middle of an upload leaves nothing behind', async () => {
    const { hostname, port } = new URL(stack.base);
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.write(
      `POST /v1/images/edits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stack.key}\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 5000000\r\n\r\n`,
    );
    socket.write(whole.subarray(0, 200));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(stack.gateway.snapshot.active).toBe(1);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(stack.gateway.snapshot.active).toBe(0);
    expect(stack.simulator.received).toHaveLength(0);
  });
});
