import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Configuration,
  diffConfigurations,
  formatFault,
  loadConfiguration,
  watchConfiguration,
} from '../../engine/config/index.ts';
import type { Log } from '../../engine/plugin.ts';
import { createFolder, type Folder } from './folder.ts';
import { registry } from './registry.ts';

const environment = { GOOGLE_API_KEY: 'very-secret-google-key' };

interface Reloads {
  /** Per reload: what changed in words, or the faults. */
  readonly seen: string[][];
  readonly errors: unknown[];
  next(count: number): Promise<void>;
}

async function load(path: string): Promise<Configuration> {
  const result = await loadConfiguration(path, registry, environment);
  if (!result.ok) throw new Error(result.faults.map(formatFault).join('\n'));
  return result.configuration;
}

/** Watches a folder the way the gateway does: a broken file keeps the old configuration. */
async function watchFolder(path: string): Promise<Reloads> {
  let current = await load(path);
  const seen: string[][] = [];
  const errors: unknown[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (fields) => errors.push(fields) };
  const reload = async (): Promise<readonly string[]> => {
    const result = await loadConfiguration(path, registry, environment);
    if (!result.ok) {
      seen.push(result.faults.map((fault) => formatFault(fault).replace(`${path}/`, '')));
      return result.files;
    }
    seen.push(diffConfigurations(current, result.configuration));
    current = result.configuration;
    return current.files;
  };
  const watch = watchConfiguration(current.files, reload, log);
  onTestFinished(() => watch.close());
  // The watch itself takes a moment to stand; a change before that is found by its first look.
  await wait(300);
  const next = (count: number) => vi.waitFor(() => expect(seen.length).toBe(count), { timeout: 5_000, interval: 20 });
  return { seen, errors, next };
}

const last = (reloads: Reloads, words: string) =>
  vi.waitFor(() => expect(reloads.seen.at(-1)).toEqual([words]), { timeout: 5_000, interval: 20 });

const weight = (folder: Folder, from: number, to: number): void =>
  folder.edit('channels.yaml', `weight: ${from}`, `weight: ${to}`);

test('a file that an editor renames over the old one is seen, again and again', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  for (const [index, from] of [3, 4, 5].entries()) {
    weight(folder, from, from + 1);
    await reloads.next(index + 1);
    expect(reloads.seen[index]).toEqual([`channels: weight of google-main ${from} → ${from + 1}`]);
  }
});

test('a file that is written in place is seen', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  folder.write('gateway.yaml', 'listen: { port: 0 }\nlog: { level: error }\n');
  await reloads.next(1);
  expect(reloads.seen).toEqual([['gateway: log.level warn → error (live)']]);
});

test('several files saved together are one reload', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  folder.edit('models.yaml', '  demo-chat:', '  beta-4-image: { family: beta, price: { image: "0.1" } }\n  demo-chat:');
  await wait(10);
  folder.edit('channels.yaml', 'models: { beta-3', 'models: { beta-4-image: gemini-4-image, beta-3');
  await reloads.next(1);
  await wait(400);
  expect(reloads.seen).toEqual([
    [
      'models: +beta-4-image',
      'channels: models of google-main beta-3-pro-image → beta-4-image beta-3-pro-image, mapping of google-main changed',
    ],
  ]);
});

test('a save that changes nothing is no reload', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  folder.edit('channels.yaml', 'weight: 3', 'weight: 3');
  folder.write('notes.txt', 'beside the files');
  await wait(500);
  expect(reloads.seen).toEqual([]);
});

test('a broken file is a fault, the mended one a reload', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  folder.edit('channels.yaml', 'weight: 3', 'wieght: 3');
  await reloads.next(1);
  expect(reloads.seen[0]).toEqual([
    'channels.yaml:16:5 channels.google-main.wieght: unknown key (did you mean "weight"?)',
  ]);
  folder.edit('channels.yaml', 'wieght: 3', 'weight: 9');
  await reloads.next(2);
  expect(reloads.seen[1]).toEqual(['channels: weight of google-main 3 → 9']);
});

test('a config map: files are links through ..data, which is swapped', async () => {
  const folder = createFolder();
  const files = ['gateway.yaml', 'channels.yaml', 'models.yaml', 'routes.yaml'];
  const first = join(folder.path, '..first');
  mkdirSync(first);
  for (const file of files) renameSync(join(folder.path, file), join(first, file));
  symlinkSync('..first', join(folder.path, '..data'));
  for (const file of files) symlinkSync(join('..data', file), join(folder.path, file));
  const reloads = await watchFolder(folder.path);
  for (const [index, name] of ['second', 'third'].entries()) {
    const next = createFolder();
    weight(next, 3, 10 + index);
    renameSync(next.path, join(folder.path, `..${name}`));
    symlinkSync(`..${name}`, join(folder.path, '..data_new'));
    renameSync(join(folder.path, '..data_new'), join(folder.path, '..data'));
    await reloads.next(index + 1);
  }
  expect(reloads.seen).toEqual([
    ['channels: weight of google-main 3 → 10'],
    ['channels: weight of google-main 10 → 11'],
  ]);
});

test('a whole folder that is a link is followed when the link is swapped', async () => {
  const releases = createFolder();
  const [first, second] = [createFolder(), createFolder()];
  weight(second, 3, 8);
  const current = join(releases.path, 'current');
  symlinkSync(first.path, current);
  const reloads = await watchFolder(current);
  symlinkSync(second.path, `${current}.new`);
  renameSync(`${current}.new`, current);
  await reloads.next(1);
  weight(second, 8, 9);
  await reloads.next(2);
  expect(reloads.seen.flat()).toEqual([
    'channels: weight of google-main 3 → 8',
    'channels: weight of google-main 8 → 9',
  ]);
});

test('a folder that is moved away and back, or replaced by another one, is followed, again and again', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  renameSync(folder.path, `${folder.path}-old`);
  await reloads.next(1);
  expect(reloads.seen[0]).toContain('models.yaml:1:1 there is no such file');
  renameSync(`${folder.path}-old`, folder.path);
  await reloads.next(2);
  weight(folder, 3, 4);
  await reloads.next(3);
  for (const [index, from] of [4, 5].entries()) {
    const next = createFolder();
    weight(next, 3, from + 1);
    rmSync(folder.path, { recursive: true });
    renameSync(next.path, folder.path);
    await last(reloads, `channels: weight of google-main ${from} → ${from + 1}`);
    expect(reloads.seen.length).toBeGreaterThan(3 + index);
  }
  weight(folder, 6, 7);
  await last(reloads, 'channels: weight of google-main 6 → 7');
  expect(reloads.errors).toEqual([]);
});

test('a secret in a file is watched, and its rotation told without showing it', async () => {
  const folder = createFolder();
  folder.write('google.key', 'first-secret');
  folder.edit('channels.yaml', `$\{env:GOOGLE_API_KEY}`, `$\{file:google.key}`);
  const reloads = await watchFolder(folder.path);
  folder.replace('google.key', 'second-secret');
  await reloads.next(1);
  expect(reloads.seen).toEqual([['channels: credentials of google-main changed']]);
});

test('an error of the reload goes to the log and does not end the watch', async () => {
  const folder = createFolder();
  const errors: object[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (fields) => errors.push(fields) };
  let calls = 0;
  const onChange = async (): Promise<readonly string[]> => {
    calls++;
    if (calls === 1) throw new Error('out of order');
    return files;
  };
  const { files } = await load(folder.path);
  const watch = watchConfiguration(files, onChange, log);
  onTestFinished(() => watch.close());
  await wait(300);
  weight(folder, 3, 4);
  await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 5_000 });
  weight(folder, 4, 5);
  await vi.waitFor(() => expect(calls).toBe(2), { timeout: 5_000 });
});

describe('operators’ plugins', () => {
  const source = (header: string): string =>
    `export default [{
      name: 'stamp',
      summary: 'Stamps requests.',
      options: {
        type: 'object',
        additionalProperties: false,
        properties: { header: { type: 'string', description: 'Name of the header.', default: '${header}' } },
      },
      requires: ['auth'],
      create: () => ({}),
    }, {
      name: 'other-vendor',
      summary: 'A vendor of our own.',
      baseUrl: 'https://other.example/v1',
      auth: { header: 'authorization', value: 'Bearer {credential}' },
      speaks: { 'openai-chat': { whole: '/chat/completions', stream: '/chat/completions' } },
    }];\n`;

  const folderWithPlugin = (): Folder => {
    const folder = createFolder();
    folder.write('stamp.mjs', source('x-first'));
    folder.edit('routes.yaml', 'chains:', 'plugins: [./stamp.mjs]\nchains:');
    folder.edit('routes.yaml', 'chat: [auth,', 'chat: [auth, stamp,');
    folder.edit('channels.yaml', 'vendor: openai', 'vendor: other-vendor');
    folder.edit('channels.yaml', 'alpha-image-1k: gpt-image-2, ', '');
    return folder;
  };

  const defaultHeader = (configuration: Configuration): unknown =>
    configuration.chains.get('chat')?.find((stage) => stage.plugin === 'stamp')?.options.header;

  test('one file adds a plugin and a vendor', async () => {
    const configuration = await load(folderWithPlugin().path);
    expect(defaultHeader(configuration)).toBe('x-first');
    expect(configuration.channels[0]?.vendor.name).toBe('other-vendor');
    expect(configuration.channels[0]?.origin).toBe('https://other.example');
  });

  test('an unchanged file is not loaded twice', async () => {
    const folder = folderWithPlugin();
    const [before, after] = [await load(folder.path), await load(folder.path)];
    expect(diffConfigurations(before, after)).toEqual([]);
  });

  test('a changed file is loaded anew', async () => {
    const folder = folderWithPlugin();
    const reloads = await watchFolder(folder.path);
    folder.replace('stamp.mjs', source('x-second'));
    await reloads.next(1);
    expect(reloads.seen).toEqual([
      ['chains: options of stamp of chat changed', 'plugins: stamp loaded anew, other-vendor loaded anew'],
    ]);
    expect(defaultHeader(await load(folder.path))).toBe('x-second');
  });

  test('a file that waits for ever at its top level is a fault after ten seconds', async () => {
    const folder = folderWithPlugin();
    writeFileSync(join(folder.path, 'stamp.mjs'), 'export default await new Promise(() => {});\n');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const loading = loadConfiguration(folder.path, registry, environment);
    await vi.advanceTimersByTimeAsync(10_000);
    const result = await loading;
    expect(result.ok ? [] : result.faults.map(({ message }) => message)).toEqual([
      'plugins[0]: the module cannot be loaded: it is not ready after 10 s',
    ]);
  });

  test('a file that does not parse is a fault at its place in routes.yaml', async () => {
    const folder = folderWithPlugin();
    writeFileSync(join(folder.path, 'stamp.mjs'), 'export default {\n');
    const result = await loadConfiguration(folder.path, registry, environment);
    const [fault] = result.ok ? [] : result.faults;
    expect(fault).toMatchObject({ line: 1, column: 11 });
    expect(fault?.message).toContain('plugins[0]: the module cannot be loaded');
  });
});

test('a secret file in a folder that is made later is followed, again and again', async () => {
  const folder = createFolder();
  const reloads = await watchFolder(folder.path);
  folder.edit('channels.yaml', `$\{env:GOOGLE_API_KEY}`, `$\{file:secrets/google.key}`);
  await reloads.next(1);
  expect(reloads.seen[0]?.join()).toContain('there is no such file');
  mkdirSync(join(folder.path, 'secrets'));
  writeFileSync(join(folder.path, 'secrets/google.key'), 'the-first-google-key');
  await reloads.next(2);
  for (const [index, secret] of ['the-second-google-key', 'the-third-google-key'].entries()) {
    writeFileSync(join(folder.path, 'secrets/google.key'), secret);
    await reloads.next(3 + index);
    expect(reloads.seen.at(-1)?.join()).toContain('credentials');
  }
  expect(reloads.errors).toEqual([]);
});

test('a file that changes while it is read for the first time is read again', async () => {
  const folder = createFolder();
  const extra = join(folder.path, 'extra.txt');
  const yaml = join(folder.path, 'channels.yaml');
  let reloads = 0;
  const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
  const watch = watchConfiguration(
    [yaml],
    async () => {
      reloads++;
      writeFileSync(extra, 'new content');
      await wait(50);
      if (reloads === 1) writeFileSync(extra, 'newer content');
      return [yaml, extra];
    },
    log,
  );
  onTestFinished(() => watch.close());
  await wait(300);
  weight(folder, 3, 4);
  await vi.waitFor(() => expect(reloads).toBeGreaterThan(1), { timeout: 5_000 });
});
