/** Images whose retention is over are deleted; everything else stays. */
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type OpenedObjects, openObjects } from '../../engine/objects/index.ts';
import { recordingLog } from './recording-log.ts';

const hour = 3_600_000;
const old = new Date(Date.now() - 48 * hour);
const dayOf = (date: Date) => date.toISOString().slice(0, 10).replaceAll('-', '/');
const nameOf = (number: number, extension = 'png') => `${number.toString(16).padStart(32, '0')}.${extension}`;

let folder: string;
let opened: OpenedObjects | null;
let log: ReturnType<typeof recordingLog>;

const open = async (retention: number): Promise<OpenedObjects['objects']> => {
  opened = await openObjects(
    { engine: 'folder', urlLifetime: hour, folder: { retention } },
    { folder, publicUrl: 'http://gateway.test', log },
  );
  return opened.objects;
};

/** A file below the objects that was changed when it says. */
async function file(key: string, changed: Date = old): Promise<string> {
  const path = join(folder, 'objects', key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'image');
  await utimes(path, changed, changed);
  return key;
}

/** Paths of all files that are there, links among them. */
async function files(): Promise<string[]> {
  const entries = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => !entry.isDirectory());
  return found.map((entry) => join(entry.parentPath, entry.name).slice(join(folder, 'objects').length + 1)).sort();
}

const swept = () => vi.waitFor(() => expect(log.lines.join('\n')).toContain('retention is over'), 5_000);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sweep-'));
  log = recordingLog();
  opened = null;
});

afterEach(async () => {
  await opened?.objects.close();
  await rm(folder, { recursive: true });
});

it('2.3 an image goes when its retention is over, with the folder of its day, and one line tells', async () => {
  for (const number of [1, 2]) await file(`images/${dayOf(old)}/${nameOf(number)}`);
  await file(`images/2020/02/29/${nameOf(3, 'jpg')}`);
  const objects = await open(12 * hour);
  const { key } = await objects.put({
    body: Buffer.from('new'),
    length: 3,
    contentType: 'image/png',
    prefix: 'images',
  });
  await swept();
  expect(await files()).toEqual([key]);
  expect(await readdir(join(folder, 'objects/images/2020/02'))).toEqual([]);
  expect(log.lines).toEqual(['info images whose retention is over were deleted {"images":3,"bytes":15}']);
});

it('what is younger, no image, not ours or a link stays', async () => {
  const day = `images/${dayOf(old)}`;
  const kept = [
    await file(`${day}/${nameOf(1)}`, new Date()),
    await file(`${day}/notes.txt`),
    await file(`${day}/deeper/${nameOf(2)}`),
    await file(`videos/${dayOf(old)}/${nameOf(3, 'mp4')}`),
    await file(`others/${dayOf(old)}/${nameOf(4)}`),
    await file(`images/${nameOf(5)}`),
  ];
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(join(folder, 'elsewhere', nameOf(6)), 'not ours');
  await symlink(join(folder, 'elsewhere', nameOf(6)), join(folder, 'objects', day, nameOf(7)));
  await mkdir(join(folder, 'objects/images/2020/01'), { recursive: true });
  await symlink(join(folder, 'elsewhere'), join(folder, 'objects/images/2020/01/01'));
  await file(`${day}/${nameOf(8)}`);
  await open(12 * hour);
  await swept();
  expect(await files()).toEqual([...kept, `${day}/${nameOf(7)}`, 'images/2020/01/01'].sort());
  expect(await readdir(join(folder, 'elsewhere'))).toEqual([nameOf(6)]);
});

it('more than one batch goes in one look', async () => {
  for (let number = 0; number < 250; number++) await file(`images/${dayOf(old)}/${nameOf(number)}`);
  await open(hour);
  await swept();
  expect(await files()).toEqual([]);
  expect(log.lines[0]).toContain('"images":250');
});

it('without a retention nothing is ever deleted', async () => {
  const key = await file(`images/2020/01/01/${nameOf(1)}`);
  await open(0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await files()).toEqual([key]);
});

it('a gateway that closes stops in the middle, and what it left goes the next time', async () => {
  for (let number = 0; number < 250; number++) await file(`images/${dayOf(old)}/${nameOf(number)}`);
  const objects = await open(hour);
  await vi.waitFor(async () => expect((await files()).length).toBeLessThan(250), { timeout: 5_000, interval: 1 });
  await objects.close();
  const left = await files();
  expect(left.length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(await files()).toEqual(left);
  await open(hour);
  await vi.waitFor(async () => expect(await files()).toEqual([]), 5_000);
});

it('a folder that someone else deletes meanwhile keeps none behind it from its turn', async () => {
  for (let number = 0; number < 250; number++) await file(`images/2020/01/01/${nameOf(number)}`);
  const other = await file(`images/2020/01/02/${nameOf(300)}`);
  await file(`images/2020/01/03/${nameOf(301)}`);
  await open(hour);
  await vi.waitFor(async () => expect((await files()).length).toBeLessThan(252), { timeout: 5_000, interval: 1 });
  await rm(dirname(join(folder, 'objects', other)), { recursive: true });
  await vi.waitFor(async () => expect(await files()).toEqual([]), 5_000);
  await swept();
  expect(log.lines).toEqual([expect.stringContaining('"images":251')]);
});

it('a folder that cannot be read is reported', async () => {
  await mkdir(join(folder, 'objects'));
  await writeFile(join(folder, 'objects/images'), 'no folder');
  await open(12 * hour);
  await vi.waitFor(() => expect(log.lines).toHaveLength(1), 5_000);
  expect(log.lines[0]).toMatch(/^error the folders of stored images cannot be read/);
});
