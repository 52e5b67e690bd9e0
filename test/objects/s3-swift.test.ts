/** What only a server that checks signatures can prove, and the ways it can fail in the middle. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3 } from '../../engine/objects/s3.ts';
import type { S3Settings } from '../../engine/objects/settings.ts';
import { type Swift, startSwift } from '../swift/start.ts';
import { whyNoSwift } from './engines.ts';
import { recordingLog } from './recording-log.ts';
import { makeBucket, type TestBucket } from './s3-bucket.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const skipped = whyNoSwift();
const test = skipped === null ? it : (name: string, _: () => Promise<void>) => it.skip(`${name} (${skipped})`);
const image = Buffer.alloc(200_000, 7);
const object = { body: image, length: image.length, contentType: 'image/png', prefix: 'images' };

describe('S3 on Swift', () => {
  let swift: Swift;
  let bucket: TestBucket;
  const proxies: TcpProxy[] = [];

  beforeAll(async () => {
    if (skipped !== null) return;
    swift = await startSwift();
    bucket = await makeBucket(swift);
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    if (skipped !== null) return;
    bucket.close();
    await swift.stop();
  });

  const open = (changes: Partial<S3Settings> = {}) =>
    openS3({ ...bucket.settings, ...changes }, 3_600_000, recordingLog());

  const throughProxy = async () => {
    const proxy = await startTcpProxy(Number(new URL(swift.endpoint).port));
    proxies.push(proxy);
    return { proxy, endpoint: `http://127.0.0.1:${proxy.port}` };
  };

  for (const changes of [{ secretAccessKey: 'wrong' }, { accessKeyId: 'test:nobody' }]) {
    test(`credentials that are wrong (${Object.keys(changes)}) end in storage_failed and a clear check`, async () => {
      const s3 = open(changes);
      const failure = await s3.put(object).catch((error) => error);
      expect(failure).toMatchObject({ code: 'storage_failed', cause: { cause: { name: 'SignatureDoesNotMatch' } } });
      expect(failure.cause.message).toContain('refused the credentials');
      await expect(s3.check()).rejects.toThrow(/^S3 HeadBucket failed: 127.* refused the credentials for the bucket/);
    });
  }

  test('a URL signed with a wrong secret is refused by the server', async () => {
    const { key } = await open().put(object);
    expect((await fetch(await open().sign(key))).status).toBe(200);
    expect((await fetch(await open({ secretAccessKey: 'wrong' }).sign(key))).status).toBe(403);
  });

  test('a bucket that does not exist is named by put and by check', async () => {
    const s3 = open({ bucket: 'nowhere' });
    const failure = await s3.put(object).catch((error) => error);
    expect(failure.cause.message).toContain('the bucket nowhere does not exist at 127.0.0.1:');
    await expect(s3.check()).rejects.toThrow('the bucket nowhere does not exist at 127.0.0.1:');
  });

  test('the public endpoint is signed into the URL and reached there', async () => {
    const { proxy, endpoint } = await throughProxy();
    const s3 = open({ publicEndpoint: endpoint });
    const { key } = await s3.put(object);
    expect(proxy.connections()).toBe(0);
    const url = await s3.sign(key);
    expect(url.startsWith(endpoint)).toBe(true);
    const reply = await fetch(url, { headers: { connection: 'close' } });
    expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, image.length]);
    expect(proxy.connections()).toBe(1);
  });

  for (const direction of ['to-server', 'to-client'] as const) {
    test(`a connection that stalls ${direction} ends in storage_failed in time`, async () => {
      const { proxy, endpoint } = await throughProxy();
      const s3 = open({ endpoint, timeout: 1_000 });
      await s3.put(object);
      proxy.stall(direction);
      const started = Date.now();
      await expect(s3.put(object)).rejects.toMatchObject({ code: 'storage_failed' });
      expect(Date.now() - started).toBeLessThan(5_000);
    });
  }

  test('a server that goes away in between ends in storage_failed', async () => {
    const { proxy, endpoint } = await throughProxy();
    const s3 = open({ endpoint });
    await s3.put(object);
    await proxy.close();
    const failure = await s3.put(object).catch((error) => error);
    expect(failure).toMatchObject({ code: 'storage_failed' });
    expect(failure.cause.message).toMatch(/cannot be reached \((ECONNREFUSED|ECONNRESET)\)/);
  });
});
