/** What only the folder engine has: its files, its secret, its URLs and how they are served. */
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenedObjects, openObjects } from '../../engine/objects/index.ts';
import type { ObjectsSettings } from '../../engine/objects/settings.ts';
import { type FileHttp, getRaw, listenForFiles } from './file-http.ts';
import { recordingLog } from './recording-log.ts';

const text = '0123456789';
let folder: string;
let http: FileHttp;
let opened: OpenedObjects;

const open = (settings: Partial<ObjectsSettings> = {}): Promise<OpenedObjects> =>
  openObjects(
    { engine: 'folder', urlLifetime: 3_600_000, ...settings },
    { folder, publicUrl: `${http.url}/`, log: recordingLog() },
  );

const store = async (contentType = 'image/png') =>
  (await opened.objects.put({ body: Buffer.from(text), length: text.length, contentType, prefix: 'images' })).key;

const codeOf = async (reply: Response): Promise<unknown> => {
  const { error } = (await reply.json()) as { error: { code: string } };
  return [reply.status, error.code];
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'));
  http = await listenForFiles(() => opened.files!);
  opened = await open();
});

afterEach(async () => {
  await opened.objects.close();
  await http.close();
  await rm(folder, { recursive: true });
});

describe('the URL', () => {
  it('2.3 has an expiry time and a signature, after exactly one slash', async () => {
    const key = await store();
    const url = new URL(await opened.objects.sign(key, 60));
    expect(url.href.startsWith(`${http.url}/files/${key}?expires=`)).toBe(true);
    expect(Number(url.searchParams.get('expires')) - Date.now() / 1000).toBeGreaterThan(58);
    expect(Number(url.searchParams.get('expires')) - Date.now() / 1000).toBeLessThan(62);
    expect(url.searchParams.get('signature')).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('2.3 that has expired says so', async () => {
    const url = await opened.objects.sign(await store(), -2);
    expect(await codeOf(await fetch(url))).toEqual([403, 'url_expired']);
  });

  it('2.3 that has expired and was prolonged by hand is a wrong signature, not an expired one', async () => {
    const url = await opened.objects.sign(await store(), -2);
    const prolonged = url.replace(/expires=\d+/, `expires=${Math.ceil(Date.now() / 1000) + 60}`);
    expect(await codeOf(await fetch(prolonged))).toEqual([403, 'invalid_url_signature']);
  });

  it.each([
    ['without a query', (url: string) => url.split('?')[0]!],
    ['without its signature', (url: string) => url.replace(/&signature=.*/, '')],
    ['with a short signature', (url: string) => url.slice(0, -1)],
    ['with a second signature', (url: string) => `${url}&signature=${'A'.repeat(43)}`],
    ['with a second expiry time', (url: string) => `${url}&expires=99999999999`],
    ['with an expiry time that is no number', (url: string) => url.replace(/expires=\d+/, 'expires=1e99')],
    [
      'with a signature of other letters',
      (url: string) => url.replace(/signature=.*/, `signature=${'%00'.repeat(43)}`),
    ],
  ])('%s is refused', async (_, change) => {
    const url = await opened.objects.sign(await store());
    expect(await codeOf(await fetch(change(url)))).toEqual([403, 'invalid_url_signature']);
  });

  it('of a missing object is 404 only with a right signature', async () => {
    const key = `images/2025/01/01/${'0'.repeat(32)}.png`;
    expect(await codeOf(await fetch(await opened.objects.sign(key)))).toEqual([404, 'object_not_found']);
    expect(await codeOf(await fetch(`${http.url}/files/${key}`))).toEqual([403, 'invalid_url_signature']);
  });
});

describe('path tricks', () => {
  it.each([
    '/files/../url-secret',
    '/files/images/../../url-secret',
    '/files/%2e%2e/url-secret',
    '/files/..%2furl-secret',
    '/files/images%2f2025%2f01%2f01%2f00000000000000000000000000000000.png',
    '/files//etc/passwd',
    '/files/%00',
    '/files/images/2025/01/01/00000000000000000000000000000000.png%00',
    '/files/images/2025/01/01/00000000000000000000000000000000.png/',
    '/files/IMAGES/2025/01/01/00000000000000000000000000000000.png',
    '/files/.incoming/00000000000000000000000000000000',
    '/files/',
    '/files',
    '/filesimages/2025/01/01/00000000000000000000000000000000.png',
    `/files/${'a/'.repeat(4_000)}`,
  ])('%s is missing', async (path) => {
    const query = (await opened.objects.sign(await store())).split('?')[1];
    const reply = await getRaw(http.url, `${path}?${query}`);
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([404, 'object_not_found']);
  });

  it('a symbolic link as file or as folder is missing, wherever it leads', async () => {
    const [file, inFolder] = [await store(), await store()];
    const outside = join(folder, 'outside');
    await rename(join(folder, 'objects', file), outside);
    await symlink(outside, join(folder, 'objects', file));
    expect((await fetch(await opened.objects.sign(inFolder))).status).toBe(200);
    expect((await fetch(await opened.objects.sign(file))).status).toBe(404);

    const day = dirname(join(folder, 'objects', inFolder));
    await rename(day, join(folder, 'day'));
    await symlink(join(folder, 'day'), day);
    expect((await fetch(await opened.objects.sign(inFolder))).status).toBe(404);
  });

  it('the folder of the objects itself may be a link, as a mounted volume is', async () => {
    const key = await store();
    await rename(join(folder, 'objects'), join(folder, 'volume'));
    await symlink(join(folder, 'volume'), join(folder, 'objects'));
    expect((await fetch(await opened.objects.sign(key))).status).toBe(200);
  });

  it('a folder under the name of an object is missing', async () => {
    const key = `images/2025/01/01/${'1'.repeat(32)}.png`;
    await mkdir(join(folder, 'objects', key), { recursive: true });
    expect((await fetch(await opened.objects.sign(key))).status).toBe(404);
  });
});

describe('serving', () => {
  const get = async (headers: Record<string, string>, method = 'GET', contentType = 'image/png') =>
    fetch(await opened.objects.sign(await store(contentType), 100), { headers, method });

  it('names what a browser must know', async () => {
    const reply = await get({});
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-disposition': 'inline',
      'content-length': '10',
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
    });
    expect(reply.headers.get('cache-control')).toMatch(/^private, max-age=(9\d|100), immutable$/);
  });

  it.each([
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-30', text, 'bytes 0-9/10'],
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=9-99999', '9', 'bytes 9-9/10'],
    ['Bytes=1-1', '1', 'bytes 1-1/10'],
  ])('range %s gives %s', async (range, body, contentRange) => {
    const reply = await get({ range });
    expect([reply.status, await reply.text()]).toEqual([206, body]);
    expect(reply.headers.get('content-range')).toBe(contentRange);
    expect(reply.headers.get('content-length')).toBe(String(body.length));
  });

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=999999999999999-'])(
    'range %s cannot be met',
    async (range) => {
      const reply = await get({ range });
      expect([reply.status, await reply.text()]).toEqual([416, '']);
      expect(reply.headers.get('content-range')).toBe('bytes */10');
    },
  );

  it.each([
    'bytes=4-2',
    'bytes=a-b',
    'bytes=-',
    'bytes',
    'lines=1-2',
    'bytes=0-1,3-4',
    'bytes=1.5-2',
    `bytes=${'9'.repeat(99)}-`,
  ])('range %s is ignored', async (range) => {
    const reply = await get({ range });
    expect([reply.status, await reply.text()]).toEqual([200, text]);
  });

  it('HEAD has the length and no body, with a range too', async () => {
    const reply = await get({ range: 'bytes=2-4' }, 'HEAD');
    expect([reply.status, reply.headers.get('content-length'), await reply.text()]).toEqual([200, '10', '']);
  });

  it('If-None-Match with the ETag is 304', async () => {
    const url = await opened.objects.sign(await store());
    const etag = (await fetch(url)).headers.get('etag')!;
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await fetch(url, { headers: { 'if-none-match': header } });
      expect([reply.status, await reply.text()]).toEqual([304, '']);
    }
    expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    expect(await codeOf(await get({}, method))).toEqual([405, 'method_not_supported']);
  });

  it('SVG and what nobody knows is offered as a download', async () => {
    expect((await get({}, 'GET', 'image/svg+xml')).headers.get('content-disposition')).toBe('attachment');
    expect((await get({}, 'GET', 'text/html')).headers.get('content-type')).toBe('application/octet-stream');
  });
});

describe('the secret', () => {
  const file = () => join(folder, 'url-secret');

  it('is generated once, readable by its owner only, and outlives a restart', async () => {
    const url = await opened.objects.sign(await store());
    const secret = await readFile(file(), 'utf8');
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(secret.trim().length).toBeGreaterThanOrEqual(43);
    opened = await open();
    expect(await readFile(file(), 'utf8')).toBe(secret);
    expect((await fetch(url)).status).toBe(200);
  });

  it('is the same for processes that start at the same time', async () => {
    await rm(file());
    const key = await store();
    const all = await Promise.all(Array.from({ length: 20 }, () => open()));
    for (const { objects } of all) {
      opened = all[0]!;
      expect((await fetch(await objects.sign(key))).status).toBe(200);
    }
    expect((await readdir(folder)).filter((name) => name.startsWith('url-secret'))).toEqual(['url-secret']);
  });

  it('can be rotated: the first signs, all verify', async () => {
    const [old, fresh] = ['an old secret of enough letters', 'a new secret of enough letters'];
    opened = await open({ secret: old });
    const key = await store();
    const before = await opened.objects.sign(key);
    opened = await open({ secret: [fresh, old] });
    expect((await fetch(before)).status).toBe(200);
    const after = await opened.objects.sign(key);
    opened = await open({ secret: [fresh] });
    expect([(await fetch(before)).status, (await fetch(after)).status]).toEqual([403, 200]);
  });

  it('that is too short is refused at start, without being shown', async () => {
    const failure = await open({ secret: 'short' }).catch((error: Error) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining('objects.secret) needs at least 16') });
    expect(String(failure)).not.toContain('"short"');
    await writeFile(file(), '\n');
    await expect(open()).rejects.toThrow('url-secret) needs at least 16 characters');
  });
});

describe('the folder', () => {
  it('loses stale drafts at start and keeps those another process may be writing', async () => {
    const incoming = join(folder, 'objects', '.incoming');
    const long = new Date(Date.now() - 2 * 3_600_000);
    await writeFile(join(incoming, 'stale'), 'half');
    await utimes(join(incoming, 'stale'), long, long);
    await writeFile(join(incoming, 'fresh'), 'half');
    opened = await open();
    expect(await readdir(incoming)).toEqual(['fresh']);
  });

  it('that cannot be written to is a fault at start and at every put', async () => {
    await rm(join(folder, 'objects'), { recursive: true });
    await writeFile(join(folder, 'objects'), 'a file in the way');
    await expect(open()).rejects.toThrow();
    await expect(opened.objects.check()).rejects.toThrow();
    await expect(store()).rejects.toMatchObject({ code: 'storage_failed', cause: { code: 'ENOTDIR' } });
  });

  it('keeps its objects from other users of the machine', async () => {
    await chmod(folder, 0o755);
    const key = await store();
    expect((await stat(join(folder, 'objects', key))).mode & 0o007).toBe(0);
  });
});
