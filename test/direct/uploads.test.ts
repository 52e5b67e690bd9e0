import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { formOf, lastRow, postForm, startPair, startVendor, startWith, until, wav, wavFile } from './support.ts';

const boundary = 'a-boundary';
const part = (head: string, content: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const formBytes = (file: Buffer): Buffer =>
  Buffer.concat([
    part('name="file"; filename="a.wav"\r\nContent-Type: audio/wav', file),
    part('name="model"', 'demo-whisper'),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const headOf = ({ key }: Stack, length: number, path = '/v1/audio/transcriptions'): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    `Authorization: Bearer ${key}`,
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    `Content-Length: ${length}`,
    'Connection: close',
    '\r\n',
  ].join('\r\n');

async function open(stack: Stack): Promise<Socket> {
  const { hostname, port } = new URL(stack.base);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  // A gateway that cuts the connection is seen by what was answered.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function answerOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close');
  return text;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('4.1 POST /v1/audio/transcriptions: the form as it comes', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  it('split at every position it is the same form', async () => {
    const bytes = formBytes(wav(0.002));
    const texts = new Set<string>();
    const positions = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    while (positions.length > 0) {
      const answers = positions.splice(0, 40).map(async (position) => {
        const socket = await open(stack);
        socket.write(Buffer.concat([Buffer.from(headOf(stack, bytes.length)), bytes.subarray(0, position)]));
        await pause(5);
        socket.write(bytes.subarray(position));
        return answerOf(socket);
      });
      for (const answer of await Promise.all(answers)) {
        expect(answer).toMatch(/^HTTP\/1.1 200/);
        texts.add(/"text":"[^"]*"/.exec(answer)![0]);
      }
    }
    expect(texts.size).toBe(1);
  });

  it('cut anywhere it leaves nothing: no file, no charge, no running request', async () => {
    const before = await stack.usage();
    const bytes = formBytes(wav(30));
    for (const position of [10, 60, 200, 1000, 300_000, bytes.length - 30, bytes.length - 1]) {
      const socket = await open(stack);
      socket.write(Buffer.concat([Buffer.from(headOf(stack, bytes.length)), bytes.subarray(0, position)]));
      await pause(20);
      socket.destroy();
    }
    await until(() => running() === 0);
    expect(await stack.usage()).toHaveLength(before.length);
    expect(await readdir(join(stack.data, 'uploads'))).toEqual([]);
  });

  const running = (): number => stack.gateway.snapshot.active;

  it('a form that ends before its last boundary is refused', async () => {
    const bytes = formBytes(wav(1));
    const short = bytes.subarray(0, bytes.length - 8);
    const socket = await open(stack);
    socket.write(Buffer.concat([Buffer.from(headOf(stack, short.length)), short]));
    const answer = await answerOf(socket);
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('invalid_multipart');
  });

  it.each([
    ['without a boundary', 'multipart/form-data', 'names no boundary'],
    ['of another kind', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  ])('a body %s is refused', async (_name, type, said) => {
    const answer = await fetch(`${stack.base}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': type },
      body: 'model=demo-whisper',
    });
    expect([400, 415]).toContain(answer.status);
    expect(await answer.text()).toContain(said);
  });

  it('more than the route takes is refused while it comes', async () => {
    const file = new File([new Uint8Array(27 * 1024 * 1024)], 'a.mp3');
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ model: 'demo-whisper', file }));
    expect(answer.status).toBe(413);
    expect(await answer.text()).toContain('26 MB');
    await until(() => running() === 0);
  });

  it('text fields have bounds of their own', async () => {
    const large = 'x'.repeat(1024 * 1024 + 1);
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ model: 'demo-whisper', prompt: large }));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('longer than 1 MB');
    const form = formOf({ model: 'demo-whisper', file: wavFile(1) });
    for (let index = 0; index < 5; index++) form.append(`field${index}`, 'x'.repeat(1024 * 1024 - 1));
    expect(await (await postForm(stack, '/audio/transcriptions', form)).text()).toContain('longer than 4 MB together');
  });

  it('without a good key nothing is kept', async () => {
    const bytes = formBytes(wav(60));
    const socket = await open(stack);
    const bad = headOf(stack, bytes.length).replace(stack.key, `sk-${'0'.repeat(48)}`);
    socket.write(Buffer.concat([Buffer.from(bad), bytes]));
    expect(await answerOf(socket)).toMatch(/^HTTP\/1.1 401/);
    expect(await readdir(join(stack.data, 'uploads'))).toEqual([]);
  });

  it('a client that falls silent is told', async () => {
    await stack.rewrite(({ gateway }) => {
      gateway.body = { receiveTimeout: '300ms' };
    });
    await stack.gateway.reload();
    const bytes = formBytes(wav(30));
    const socket = await open(stack);
    socket.write(Buffer.concat([Buffer.from(headOf(stack, bytes.length)), bytes.subarray(0, 400_000)]));
    const answer = answerOf(socket);
    await pause(900);
    socket.end();
    expect(await answer).toMatch(/^HTTP\/1.1 408/);
    await stack.rewrite(({ gateway }) => {
      gateway.body = { receiveTimeout: '30s' };
    });
    await stack.gateway.reload();
  });

  it('a file on disk reaches the vendor whole', async () => {
    const sound = wav(300);
    sound.fill('a pattern', 44);
    const file = new File([new Uint8Array(sound)], 'long.wav');
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ file, model: 'demo-whisper' }));
    expect(await answer.json()).toMatchObject({ text: expect.stringContaining(`of ${sound.length} bytes`) });
    const { raw, headers } = stack.simulator.received.at(-1)!;
    expect(raw.includes(sound)).toBe(true);
    expect(headers['content-length']).toBe(String(raw.length));
    expect(await lastRow(stack)).toMatchObject({ seconds: 300 });
  });
});

describe('4.1 uploads and their vendors', () => {
  it('another channel gets the same file', async () => {
    const stack = await startPair('demo-whisper', 'whisper-1', '!status=503');
    const sound = wav(60);
    sound.fill('another', 44);
    const file = new File([new Uint8Array(sound)], 'a.wav');
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ file, model: 'demo-whisper' }));
    expect(answer.status).toBe(200);
    expect(stack.simulator.received.map(({ raw }) => raw.includes(sound))).toEqual([true, true]);
    await stack.close();
  });

  it('a vendor that refuses before it has read all is heard', async () => {
    const vendor = await startVendor((request, response) => {
      request.once('data', () => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end('{"error":{"message":"I do not listen","type":"invalid_request_error"}}');
      });
    });
    const stack = await startWith(vendor.baseUrl, 'demo-whisper');
    const file = new File([new Uint8Array(20 * 1024 * 1024)], 'a.wav');
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ file, model: 'demo-whisper' }));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('I do not listen');
    // The connection that still was sending is of no more use; the next one is.
    const again = await postForm(stack, '/audio/transcriptions', formOf({ file: wavFile(1), model: 'demo-whisper' }));
    expect(again.status).toBe(400);
    await stack.close();
    vendor.close();
  });

  it('a vendor that cuts the upload is a failed attempt', async () => {
    let times = 0;
    const vendor = await startVendor((request, response) => {
      times++;
      if (times === 1) request.once('data', () => request.socket.destroy());
      else {
        request.resume();
        request.on('end', () => response.setHeader('content-type', 'application/json').end('{"text":"heard"}'));
      }
    });
    const stack = await startWith(vendor.baseUrl, 'demo-whisper', {
      edit({ channels }) {
        channels.channels.other = { ...channels.channels.only, priority: -1 };
      },
    });
    const file = new File([new Uint8Array(5 * 1024 * 1024)], 'a.wav');
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ file, model: 'demo-whisper' }));
    expect(await answer.json()).toEqual({ text: 'heard' });
    expect(times).toBe(2);
    await stack.close();
    vendor.close();
  });

  it('a client that leaves while the vendor is sent its file ends the upload, unpaid', async () => {
    const reading: IncomingMessage[] = [];
    let closed = 0;
    const vendor = await startVendor((request) => {
      reading.push(request.pause());
      request.socket.on('close', () => closed++);
    });
    const stack = await startWith(vendor.baseUrl, 'demo-whisper');
    const leaving = new AbortController();
    const file = new File([new Uint8Array(20 * 1024 * 1024)], 'a.wav');
    const asking = fetch(`${stack.base}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}` },
      body: formOf({ file, model: 'demo-whisper' }),
      signal: leaving.signal,
    });
    await until(() => reading.length === 1);
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await until(() => stack.gateway.snapshot.active === 0);
    reading[0]!.resume();
    await until(() => closed === 1);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'aborted', quota: 0, status: 499 });
    await stack.close();
    vendor.close();
  });

  it('a disk that fails is the gateway’s own trouble: no channel is blamed', async () => {
    const stack = await startStack();
    await rm(join(stack.data, 'uploads'), { recursive: true });
    const file = new File([new Uint8Array(5 * 1024 * 1024)], 'a.wav');
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ file, model: 'demo-whisper' }));
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('could not keep the upload');
    expect(stack.simulator.received).toHaveLength(0);
    // What needs no disk goes on.
    const small = formOf({ file: wavFile(1), model: 'demo-whisper' });
    expect((await postForm(stack, '/audio/transcriptions', small)).status).toBe(200);
    await stack.close();
  });
});
