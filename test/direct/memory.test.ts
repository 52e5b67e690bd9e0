/** Sound of twenty megabytes, up and down: memory must not grow with it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { lastRow, startVendor, startWith, until } from './support.ts';

const megabyte = 1024 * 1024;
const size = 20 * megabyte;
const atOnce = 6;
const boundary = 'a-boundary';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Highest growth of what is in use, in and outside of the heap, looked at again and again while `work` runs. */
async function growth(work: () => Promise<void>): Promise<number> {
  const used = (): number => {
    // The second one waits for what the first left to be swept.
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  let highest = before;
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const start = performance.now();
    highest = Math.max(highest, used());
    // Collecting takes its time, and most of it belongs to the work.
    timer = setTimeout(look, 5 * (performance.now() - start));
  };
  timer = setTimeout(look, 100);
  await work();
  clearTimeout(timer);
  return highest - before;
}

describe('4.1 sound of 20 MB', () => {
  let vendor: Awaited<ReturnType<typeof startVendor>>;
  let uploads: Stack;
  let downloads: Stack;
  let received = 0;
  const piece = Buffer.alloc(64 * 1024, 1);

  beforeAll(async () => {
    vendor = await startVendor((request, response) => {
      if (request.url!.endsWith('/transcriptions')) {
        request.on('data', (chunk: Buffer) => {
          received += chunk.length;
        });
        request.on('end', () => response.setHeader('content-type', 'application/json').end('{"text":"heard"}'));
        return;
      }
      request.resume();
      response.setHeader('content-type', 'audio/mpeg');
      let left = size / piece.length;
      const write = (): void => {
        while (left-- > 0) if (!response.write(piece)) return void response.once('drain', write);
        response.end();
      };
      write();
    });
    uploads = await startWith(vendor.baseUrl, 'demo-whisper');
    downloads = await startWith(vendor.baseUrl, 'demo-tts');
  });
  afterAll(async () => {
    await uploads.close();
    await downloads.close();
    vendor.close();
  });

  /** Sends the form piece by piece, as fast as the gateway takes it. */
  const upload = async (): Promise<string> => {
    const { hostname, port } = new URL(uploads.base);
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n`;
    const tail = `\r\n--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\ndemo-whisper\r\n--${boundary}--\r\n`;
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
    });
    const closed = once(socket, 'close');
    socket.write(
      [
        'POST /v1/audio/transcriptions HTTP/1.1',
        'Host: gateway',
        'Connection: close',
        `Authorization: Bearer ${uploads.key}`,
        `Content-Type: multipart/form-data; boundary=${boundary}`,
        `Content-Length: ${head.length + size + tail.length}`,
        `\r\n${head}`,
      ].join('\r\n'),
    );
    for (let sent = 0; sent < size; sent += piece.length) if (!socket.write(piece)) await once(socket, 'drain');
    socket.write(tail);
    await closed;
    return answer;
  };

  const post = (): Promise<Response> =>
    downloads.post('/audio/speech', { model: 'demo-tts', voice: 'alloy', input: 'Hello' });

  it('uploads: six at once do not come near the size of one', async () => {
    await upload();
    received = 0;
    const grown = await growth(async () => {
      for (const answer of await Promise.all(Array.from({ length: atOnce }, upload)))
        expect(answer).toMatch(/^HTTP\/1.1 200/);
    });
    expect(received).toBeGreaterThan(atOnce * size);
    expect(grown).toBeLessThan(size);
  });

  it('downloads: six at once do not come near the size of one', async () => {
    const read = async (): Promise<number> => {
      let length = 0;
      for await (const chunk of (await post()).body!) length += chunk.length;
      return length;
    };
    await read();
    const grown = await growth(async () => {
      expect(await Promise.all(Array.from({ length: atOnce }, read))).toEqual(Array(atOnce).fill(size));
    });
    expect(grown).toBeLessThan(size);
  });

  it('a client that does not read pauses its vendor; it gets all when it reads on', async () => {
    const { hostname, port } = new URL(downloads.base);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ model: 'demo-tts', voice: 'alloy', input: 'Slowly' });
    socket.write(
      [
        'POST /v1/audio/speech HTTP/1.1',
        'Host: gateway',
        `Authorization: Bearer ${downloads.key}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Connection: close',
        `\r\n${body}`,
      ].join('\r\n'),
    );
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(downloads.gateway.snapshot.active).toBe(1);
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    expect(length).toBeGreaterThan(size);
    await until(() => downloads.gateway.snapshot.active === 0);
    expect(await lastRow(downloads)).toMatchObject({ outcome: 'ok', characters: 6 });
  });
});
