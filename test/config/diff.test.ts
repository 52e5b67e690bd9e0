import { describe, expect, test } from 'vitest';
import { type Configuration, diffConfigurations, formatFault, loadConfiguration } from '../../engine/config/index.ts';
import { createFolder, type Folder } from './folder.ts';
import { registry } from './registry.ts';

const environment = { GOOGLE_API_KEY: 'very-secret-google-key' };

async function load(folder: Folder, variables: Record<string, string> = environment): Promise<Configuration> {
  const result = await loadConfiguration(folder.path, registry, variables);
  if (!result.ok) throw new Error(result.faults.map(formatFault).join('\n'));
  return result.configuration;
}

type Edit = readonly [file: string, find: string, by: string];

/** What the difference says after these edits of the base configuration. */
async function wordsAfter(...edits: readonly Edit[]): Promise<string[]> {
  const folder = createFolder();
  const before = await load(folder);
  for (const [file, find, by] of edits) folder.edit(file, find, by);
  return diffConfigurations(before, await load(folder));
}

test('nothing changed', async () => {
  expect(await wordsAfter()).toEqual([]);
});

test('a new model, a price and a weight', async () => {
  const words = await wordsAfter(
    ['models.yaml', '  demo-chat:', '  beta-4-image: { family: beta, price: { image: "0.15" } }\n  demo-chat:'],
    ['models.yaml', 'image: "0.20"', 'image: "0.25"'],
    ['channels.yaml', 'weight: 3', 'weight: 1'],
  );
  expect(words).toEqual([
    'models: price of alpha-image-1k 0.20 → 0.25, +beta-4-image',
    'channels: weight of google-main 3 → 1',
  ]);
});

test.each<[string, Edit, string]>([
  ['token price', ['models.yaml', 'output: "1.60"', 'output: "2"'], 'models: output price of demo-chat 1.60 → 2'],
  ['rules', ['models.yaml', 'tiers: [1K, 2K]', 'tiers: [1K]'], 'models: rules of beta-3-pro-image changed'],
  ['multiplier', ['channels.yaml', '"0.8"', '"0.9"'], 'groups: multiplier of vip 0.8 → 0.9'],
  [
    'limit of a group',
    ['channels.yaml', '{ multiplier: "0.8" }', '{ multiplier: "0.8", limits: { concurrency: 4 } }'],
    'groups: concurrency of vip none → 4',
  ],
  [
    'timeout of a channel',
    ['channels.yaml', 'weight: 3', 'weight: 3\n    timeouts: { firstByte: 90s }'],
    'channels: first byte timeout of google-main 5m → 90s',
  ],
  [
    'vendor’s name of a model',
    ['channels.yaml', 'gemini-3-pro-image', 'gemini-4-pro-image'],
    'channels: mapping of google-main changed',
  ],
  [
    'a chain',
    ['routes.yaml', 'chat: [auth, limits,', 'chat: [auth,'],
    'chains: stages of chat auth limits normalize billing → auth normalize billing, options of limits of chat changed',
  ],
  [
    'a route',
    ['routes.yaml', 'chain: images }', 'chain: images, timeout: 60s, bodyLimit: 1mb }'],
    'routes: timeout of POST /v1/images/generations 5m → 1m, bodyLimit of POST /v1/images/generations 10mb → 1mb',
  ],
  ['a live setting', ['gateway.yaml', 'level: warn', 'level: debug'], 'gateway: log.level warn → debug (live)'],
  ['a restart', ['gateway.yaml', 'port: 0', 'port: 9090'], 'gateway: listen.port 0 → 9090 (needs a restart)'],
  [
    'a live duration',
    ['gateway.yaml', 'log:', 'drain: { timeout: 2m }\nlog:'],
    'gateway: drain.timeout 30s → 2m (live)',
  ],
])('%s', async (_, edit, expected) => {
  expect(await wordsAfter(edit)).toEqual([expected]);
});

describe('secrets', () => {
  test('a rotated credential is told as changed, never shown', async () => {
    const folder = createFolder();
    const before = await load(folder);
    const after = await load(folder, { GOOGLE_API_KEY: 'another-secret-key' });
    expect(diffConfigurations(before, after)).toEqual(['channels: credentials of google-main changed']);
  });

  test('headers and settings that may come from the environment are told as changed', async () => {
    const words = await wordsAfter(
      ['channels.yaml', 'weight: 3', `weight: 3\n    headers: { x-token: "$\{env:GOOGLE_API_KEY}" }`],
      ['gateway.yaml', 'log:', `objects: { secret: "$\{env:GOOGLE_API_KEY}-and-some-more-characters" }\nlog:`],
    );
    expect(words).toEqual([
      'channels: headers of google-main changed',
      'gateway: objects.secret changed (needs a restart)',
    ]);
  });
});
