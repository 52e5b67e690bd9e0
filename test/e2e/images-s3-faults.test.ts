/** S3 that is slow or refuses while a request waits for it (spec 8): a clear 502, free, and Base64 is not lost. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { eventsOf, expectAudit, expectError, generate, jsonOf, namesOf, picture } from './images-kit.ts';

type Store = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let stack: Stack;
/** What is done with an upload; the check at start is always answered. */
let store: Store;
let uploads: number;

beforeEach(async () => {
  uploads = 0;
  server = createServer((request, response) => {
    if (request.method !== 'PUT') return void response.end();
    uploads++;
    store(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  stack = await startStack({
    edit({ gateway }) {
      gateway.objects = {
        engine: 's3',
        s3: {
          bucket: 'images',
          endpoint: `http://127.0.0.1:${port}`,
          forcePathStyle: true,
          accessKeyId: 'AKIAEXAMPLE',
          secretAccessKey: 'do-not-tell-anyone',
          timeout: '700ms',
        },
      };
    },
  });
});
afterEach(async () => {
  await stack.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const refusal = (status: number, code: string): Store => {
  return (request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
    });
  };
};

describe('S3', () => {
  it.each<[string, Store]>([
    ['reads nothing', (request) => void request.pause()],
    ['reads all and never answers', (request) => void request.resume()],
    ['begins an answer and never ends it', (_request, response) => void response.write('<')],
    ['refuses the credentials', refusal(403, 'AccessDenied')],
    ['knows no such bucket', refusal(404, 'NoSuchBucket')],
    ['is overloaded', refusal(503, 'SlowDown')],
    ['is full', refusal(507, 'InsufficientStorage')],
    ['cuts the connection', (request) => void request.destroy()],
  ])('8 that %s: 502 storage_failed in bounded time, free; Base64 is not lost', async (_name, way) => {
    store = way;
    const started = Date.now();
    const model = 'gamma-imagine-image';
    const error = await expectError(await generate(stack, { model, n: 2 }), 502, 'storage_failed');
    expect(JSON.stringify(error)).not.toMatch(/127\.0\.0\.1|AKIA|do-not-tell/);
    await expectError(await generate(stack, { model, stream: true }), 502, 'storage_failed');
    expect(Date.now() - started).toBeLessThan(6000);
    expect(uploads).toBeGreaterThan(0);
    const asked = uploads;
    const inline = await jsonOf(await generate(stack, { model, response_format: 'b64_json' }));
    expect(picture(inline.data[0].b64_json).width).toBeGreaterThan(0);
    const streamed = await generate(stack, { model, response_format: 'b64_json', stream: true });
    expect(namesOf(eventsOf(await streamed.text()))).toEqual(['image_generation.completed', '[DONE]']);
    expect(uploads, 'Base64 is stored nowhere').toBe(asked);
    expect((await stack.usage()).map(({ outcome, images, code }) => [outcome, images, code])).toEqual([
      ['ok', 1, null],
      ['ok', 1, null],
      ['error', 0, 'storage_failed'],
      ['error', 0, 'storage_failed'],
    ]);
    await expectAudit(stack);
  });

  it('8 that is slow but comes to its end only delays the answer', async () => {
    store = (request, response) => {
      request.resume();
      request.on('end', () => setTimeout(() => response.end(), 300));
    };
    const reply = await jsonOf(await generate(stack, { model: 'beta-3-pro-image' }));
    expect(reply.data[0].url).toContain('X-Amz-Signature=');
    expect((await stack.usage())[0]).toMatchObject({ outcome: 'ok', images: 1 });
  });
});
