import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../engine/ledger/sqlite.ts';
import type { Stack } from '../kit/stack.ts';
import { ask, available, create, ended, startVideoStack } from './support.ts';

/** The few requests of S3 that the gateway makes, with what can go wrong. */
class Bucket {
  readonly objects = new Map<string, Buffer>();
  readonly server: Server;
  /** What happens to the next requests of a method. */
  fault: { readonly method: string; times: number; readonly kind: 'refuse' | 'cut' | 'corrupt' | 'slow' } | null = null;
  readonly received: string[] = [];

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.answer(request, response, Buffer.concat(chunks)));
    });
  }

  private takeFault(method: string | undefined) {
    if (this.fault === null || this.fault.method !== method || this.fault.times === 0) return null;
    this.fault.times--;
    return this.fault.kind;
  }

  private answer({ method, url, socket }: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { pathname } = new URL(url!, 'http://s3');
    const fault = this.takeFault(method);
    this.received.push(`${method} ${pathname}`);
    if (fault === 'cut') return void socket.destroy();
    if (fault === 'refuse') return void response.writeHead(507, { 'content-type': 'application/xml' }).end('<Error/>');
    if (method === 'PUT') this.objects.set(pathname, body);
    if (method === 'DELETE') this.objects.delete(pathname);
    const stored = this.objects.get(pathname);
    if (method === 'GET' && stored === undefined) return void response.writeHead(404).end();
    const bytes = fault === 'corrupt' ? Buffer.alloc(stored!.length) : stored;
    const end = () => response.writeHead(method === 'DELETE' ? 204 : 200).end(method === 'GET' ? bytes : undefined);
    if (fault === 'slow') setTimeout(end, 400);
    else end();
  }
}

const bucket = new Bucket();
let stack: Stack;
beforeAll(async () => {
  await new Promise<void>((resolve) => bucket.server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(bucket.server.address() as AddressInfo).port}`;
  stack = await startVideoStack({
    edit: ({ gateway }) => {
      const access = { accessKeyId: 'a-key', secretAccessKey: 'a-secret' };
      gateway.objects = {
        engine: 's3',
        s3: { bucket: 'films', endpoint, forcePathStyle: true, timeout: '2s', ...access },
      };
    },
  });
});
afterEach(() => {
  bucket.fault = null;
});
afterAll(async () => {
  await stack.close();
  bucket.server.closeAllConnections();
  bucket.server.close();
});

async function run() {
  const before = await available(stack);
  const { id } = (await create(stack, { prompt: 'A kite [polls=1][bytes=300000]' })).body;
  const video = await ended(stack, id);
  return { id, video, cost: before - (await available(stack)) };
}

it('4.1 a video is stored in the bucket, fetched by its presigned URL, and deleted there', async () => {
  const { id, video, cost } = await run();
  expect(video.metadata.storage).toMatchObject({ status: 'ready', bytes: 300_000 });
  const content = await ask(stack, 'GET', `/videos/${id}/content`);
  expect(content.status).toBe(302);
  expect(content.headers.get('location')).toContain('X-Amz-Signature');
  expect((await (await fetch(video.metadata.url)).arrayBuffer()).byteLength).toBe(300_000);
  expect(cost).toBe(200_000);
  expect((await ask(stack, 'DELETE', `/videos/${id}`)).status).toBe(200);
  expect(bucket.objects.size).toBe(0);
});

it.each<[string, NonNullable<Bucket['fault']>]>([
  ['refuses it', { method: 'PUT', times: 1, kind: 'refuse' }],
  ['hangs up', { method: 'PUT', times: 1, kind: 'cut' }],
  ['gives other bytes back', { method: 'GET', times: 1, kind: 'corrupt' }],
  ['cannot give it back', { method: 'GET', times: 1, kind: 'cut' }],
])('is stored again where the bucket %s, and charged once', async (_what, fault) => {
  const before = bucket.objects.size;
  bucket.fault = { ...fault };
  const { video, cost } = await run();
  expect(video.metadata.storage.status).toBe('ready');
  expect(cost).toBe(200_000);
  expect(bucket.fault.times).toBe(0);
  expect(bucket.objects.size).toBe(before + 1);
});

it('that cannot be stored costs nothing, and leaves nothing in the bucket', async () => {
  const before = bucket.objects.size;
  bucket.fault = { method: 'GET', times: 100, kind: 'corrupt' };
  const { video, cost } = await run();
  expect(video).toMatchObject({ status: 'completed', metadata: { url: null, storage: { status: 'failed' } } });
  expect(cost).toBe(0);
  expect(bucket.objects.size).toBe(before);
});

it('stored by a gateway that lost its task meanwhile is stored again under the same name, and never deleted', async () => {
  const before = await available(stack);
  const stored = bucket.objects.size;
  bucket.received.length = 0;
  bucket.fault = { method: 'PUT', times: 1, kind: 'slow' };
  const { id } = (await create(stack, { prompt: 'A kite [polls=1]' })).body;
  while (bucket.received.length === 0) await delay(5);
  const database = await openDatabase(join(stack.data, 'gateway.db'), { busyTimeout: 5000, autoCheckpoint: 1000 });
  const lease = { lease_owner: 'another', lease_until: Date.now() + 700 };
  await database.query.updateTable('tasks').set(lease).where('id', '=', id).execute();
  await database.close();
  expect((await ended(stack, id)).metadata.storage.status).toBe('ready');
  const [, path] = bucket.received[0]!.split(' ');
  expect(path).toContain(id.slice('video_'.length));
  expect(bucket.received).toEqual([`PUT ${path}`, `GET ${path}`, `PUT ${path}`, `GET ${path}`]);
  expect(bucket.objects.size).toBe(stored + 1);
  expect(before - (await available(stack))).toBe(200_000);
});

it('whose file cannot be deleted stays', async () => {
  const { id } = await run();
  bucket.fault = { method: 'DELETE', times: 100, kind: 'refuse' };
  expect((await ask(stack, 'DELETE', `/videos/${id}`)).status).toBe(502);
  bucket.fault = null;
  expect((await ask(stack, 'DELETE', `/videos/${id}`)).status).toBe(200);
});
