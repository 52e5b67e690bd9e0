/** S3 that is down, silent or answers nonsense, and settings that cannot work: no S3 server is needed for these. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openS3 } from '../../engine/objects/s3.ts';
import type { S3Settings } from '../../engine/objects/settings.ts';
import { recordingLog } from './recording-log.ts';
import { closedPort } from './tcp-proxy.ts';

const settings: S3Settings = {
  bucket: 'images',
  endpoint: 'http://127.0.0.1:1',
  forcePathStyle: true,
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'do-not-tell-anyone',
};
const image = Buffer.alloc(50_000, 7);
const object = { body: image, length: image.length, contentType: 'image/png', prefix: 'images' };
const servers: Server[] = [];

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const open = (changes: Partial<S3Settings> = {}) => openS3({ ...settings, ...changes }, 3_600_000, recordingLog());

const everyMessage = (error: unknown): string =>
  error instanceof Error ? `${error.stack}\n${JSON.stringify(error)}\n${everyMessage(error.cause)}` : '';

describe('the SDK', () => {
  it('does not print its warning about Node 20, and other warnings still come through', () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    open();
    expect(emitWarning).not.toHaveBeenCalled();
    process.emitWarning('something else');
    expect(emitWarning).toHaveBeenCalledExactlyOnceWith('something else');
    emitWarning.mockRestore();
  });
});

describe('S3 that fails', () => {
  it('down: storage_failed with the reason, at once', async () => {
    const started = Date.now();
    const failure = await open({ endpoint: `http://127.0.0.1:${await closedPort()}` })
      .put(object)
      .catch((error) => error);
    expect(failure).toMatchObject({ code: 'storage_failed', status: 502 });
    expect(failure.cause.message).toMatch(
      /^S3 PutObject failed: 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\.$/,
    );
    expect(failure.cause.cause).toMatchObject({ code: 'ECONNREFUSED' });
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  it.each(['buffer', 'stream'])('silent: storage_failed when the time is up (%s)', async (kind) => {
    const endpoint = await listen(() => {});
    const started = Date.now();
    const body = kind === 'buffer' ? image : Readable.from([image]);
    const failure = await open({ endpoint, timeout: 700 })
      .put({ ...object, body })
      .catch((error) => error);
    expect(failure).toMatchObject({ code: 'storage_failed' });
    expect(Date.now() - started).toBeGreaterThanOrEqual(690);
    expect(Date.now() - started).toBeLessThan(4_000);
    if (body instanceof Readable) expect(body.destroyed).toBe(true);
  });

  it('a source that never ends its stream is bounded too, and is destroyed', async () => {
    const endpoint = await listen((incoming) => incoming.resume());
    const body = new Readable({ read() {} });
    body.push(image);
    const failure = await open({ endpoint, timeout: 500 })
      .put({ ...object, body, length: 2 * image.length })
      .catch((error) => error);
    expect(failure).toMatchObject({ code: 'storage_failed' });
    expect(body.destroyed).toBe(true);
  });

  it('failing once: a buffer is tried a second time, a stream is not', async () => {
    let requests = 0;
    const endpoint = await listen((incoming, reply) => {
      requests += 1;
      const failing = requests % 2 === 1;
      incoming.resume().on('end', () => reply.writeHead(failing ? 503 : 200).end());
    });
    const s3 = open({ endpoint });
    await expect(s3.put(object)).resolves.toMatchObject({ length: image.length });
    expect(requests).toBe(2);
    const stream = { ...object, body: Readable.from([image]) };
    await expect(s3.put(stream)).rejects.toMatchObject({ code: 'storage_failed' });
    expect(requests).toBe(3);
  });

  it.each([
    [500, '<Error><Code>InternalError</Code><Message>ouch</Message></Error>', /answered 500 InternalError: ouch$/],
    [
      403,
      '<Error><Code>AccessDenied</Code></Error>',
      /refused the credentials for the bucket images \(AccessDenied, 403\)/,
    ],
    [404, '<Error><Code>NoSuchBucket</Code></Error>', /the bucket images does not exist at 127/],
    [301, '<Error><Code>PermanentRedirect</Code></Error>', /the bucket images is in another region\.$/],
    [400, 'this is not XML <<<', /./],
    [200, 'x'.repeat(1_000), null],
  ])('answering %i %s', async (status, text, expected) => {
    const endpoint = await listen((incoming, reply) => {
      incoming.resume().on('end', () => reply.writeHead(status).end(text));
    });
    const outcome = await open({ endpoint, timeout: 5_000 })
      .put(object)
      .catch((error) => error);
    if (expected === null) expect(outcome).toMatchObject({ length: image.length });
    else expect([outcome.code, outcome.cause.message]).toEqual(['storage_failed', expect.stringMatching(expected)]);
  });

  it('no error and no log line names the secret', async () => {
    const log = recordingLog();
    const endpoint = await listen((incoming, reply) => {
      const echo = `<Error><Code>SignatureDoesNotMatch</Code><Message>${incoming.headers['x-amz-date']}</Message></Error>`;
      incoming.resume().on('end', () => reply.writeHead(403).end(echo));
    });
    const failure = await openS3({ ...settings, endpoint }, 1_000, log)
      .put(object)
      .catch((error) => error);
    expect(failure).toMatchObject({ code: 'storage_failed' });
    expect(everyMessage(failure) + log.lines.join()).not.toContain('do-not-tell-anyone');
  });

  it('deleting and checking end as clearly', async () => {
    const s3 = open({ endpoint: `http://127.0.0.1:${await closedPort()}` });
    const key = `images/2025/01/01/${'0'.repeat(32)}.png`;
    await expect(s3.delete(key)).rejects.toMatchObject({ code: 'storage_failed' });
    await expect(s3.check()).rejects.toThrow(/^S3 HeadBucket failed: 127.0.0.1:\d+ cannot be reached/);
  });
});

describe('settings', () => {
  it.each([
    [{ endpoint: 'localhost:9000' }, 'objects.s3.endpoint is not an http or https URL.'],
    [{ endpoint: 'not a url' }, 'objects.s3.endpoint is not an http or https URL.'],
    [{ publicEndpoint: 'ftp://images' }, 'objects.s3.publicEndpoint is not an http or https URL.'],
  ])('%j is refused', (changes, message) => {
    expect(() => open(changes)).toThrow(message);
  });

  it('half a pair of credentials is refused', () => {
    const { secretAccessKey: _, ...half } = settings;
    expect(() => openS3(half, 1_000, recordingLog())).toThrow('both accessKeyId and secretAccessKey');
  });

  it('a lifetime that S3 does not allow is refused', () => {
    expect(() => openS3(settings, 8 * 24 * 3_600_000, recordingLog())).toThrow('at most 7 days');
  });

  it('publicEndpoint is the name in signed URLs, without a connection being made', async () => {
    const s3 = open({ publicEndpoint: 'https://cdn.example.com', prefix: 'gateway/' });
    const key = `images/2025/01/01/${'0'.repeat(32)}.png`;
    const url = new URL(await s3.sign(key, 90));
    expect([url.origin, url.pathname]).toEqual(['https://cdn.example.com', `/images/gateway/${key}`]);
    expect(url.searchParams.get('X-Amz-Expires')).toBe('90');
  });

  it('without forcePathStyle the bucket is part of the host', async () => {
    const s3 = open({ endpoint: 'https://s3.example.com', forcePathStyle: false });
    const url = new URL(await s3.sign(`images/2025/01/01/${'0'.repeat(32)}.png`));
    expect(url.host).toBe('images.s3.example.com');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('3600');
  });

  it.each([
    ['when-supported', true],
    ['when-required', false],
  ] as const)('checksums %s sends a checksum: %s', async (checksums, expected) => {
    let sent: readonly string[] = [];
    const endpoint = await listen((incoming, reply) => {
      sent = Object.keys(incoming.headers);
      incoming.resume().on('end', () => reply.end());
    });
    await open({ endpoint, checksums }).put(object);
    expect(sent.some((name) => name.startsWith('x-amz-checksum-'))).toBe(expected);
  });
});
