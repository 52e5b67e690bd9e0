import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Configuration, formatFault, type LoadResult, loadConfiguration } from '../../engine/config/index.ts';
import { noUsage } from '../../engine/plugin.ts';
import { builtIns } from '../../plugins/index.ts';
import { createFolder } from './folder.ts';
import { registry } from './registry.ts';

const environment = { GOOGLE_API_KEY: 'very-secret-google-key' };

function loaded(result: LoadResult): Configuration {
  if (!result.ok) throw new Error(result.faults.map(formatFault).join('\n'));
  return result.configuration;
}

describe('the four files at the top level', () => {
  test('load without any variable set; real accounts are left out with a notice each', async () => {
    const configuration = loaded(await loadConfiguration('.', builtIns, {}));
    const names = configuration.channels.map((channel) => channel.name);
    expect(names).toContain('simulated-openai');
    expect(names.filter((name) => !name.startsWith('simulated-'))).toEqual([]);
    expect(configuration.notices).toContainEqual(expect.stringContaining('openai-production is left out'));
  });

  test('load with the built-in plugins, vendors and families', async () => {
    const configuration = loaded(await loadConfiguration('.', builtIns, {}));
    const offers = configuration.groups.get('default')?.offers ?? new Map();
    expect([...offers.keys()]).toEqual([...configuration.models.keys()]);
  });

  test('load with all variables set; real accounts stand behind the simulated ones', async () => {
    const keys = {
      OPENAI_API_KEY: 'sk-real',
      ANTHROPIC_API_KEY: 'sk-ant-real',
      GOOGLE_API_KEY: 'real',
      XAI_API_KEY: 'xai-real',
      COHERE_API_KEY: 'real',
      JINA_API_KEY: 'real',
      PORT: '9000',
    };
    const configuration = loaded(await loadConfiguration('.', builtIns, keys));
    const tiers = configuration.groups.get('default')?.offers.get('alpha-image-1k')?.tiers ?? [];
    const names = tiers.map((tier) => tier.map(({ channel, weight }) => `${channel.name} ${weight}`));
    expect(names).toEqual([['simulated-openai 3', 'simulated-openai-spare 1'], ['openai-production 1']]);
    expect(configuration.notices).toEqual([]);
    expect(configuration.gateway.listen.port).toBe(9000);
  });

  test('2.5 the alpha models have their fixed specification and list price', async () => {
    const { models } = loaded(await loadConfiguration('.', builtIns, {}));
    const alpha = ['alpha-image-1k', 'alpha-image-2k', 'alpha-image-4k'].map((name) => models.get(name));
    expect(alpha.map((model) => [model?.rules.fixed, model?.price.image])).toEqual([
      [{ size: '1024x1024', quality: 'high' }, '0.20'],
      [{ size: '2048x2048', quality: 'high' }, '0.20'],
      [{ size: '3840x2160', quality: 'high' }, '0.40'],
    ]);
  });

  test('2.6 only the flash model has the ultra-wide ratios, and it shares the family’s size table', async () => {
    const { models } = loaded(await loadConfiguration('.', builtIns, {}));
    expect(models.get('beta-3.1-flash-image')?.rules.ratios).toContain('8:1');
    expect(models.get('beta-3-pro-image')?.rules.ratios).not.toContain('8:1');
    for (const name of ['beta-3.1-flash-image', 'beta-3-pro-image']) {
      const sizes = models.get(name)?.rules.sizes as Record<string, unknown>;
      expect(sizes['2752x1536']).toEqual({ aspectRatio: '16:9', resolution: '2K' });
    }
  });

  test('8 an image may take longer than the 180 seconds that clients are advised to wait', async () => {
    const { routes, channels } = loaded(await loadConfiguration('.', builtIns, {}));
    const images = routes.filter(({ operation }) => operation.startsWith('images.'));
    expect(images.map(({ path }) => path)).toEqual(['/v1/images/generations', '/v1/images/edits']);
    for (const { timeout } of images) expect(timeout).toBeGreaterThan(180_000);
    for (const { timeouts } of channels) expect(timeouts.firstByte).toBeGreaterThan(180_000);
  });

  test('8 a group’s rate is list price × multiplier × 500000 × n', async () => {
    const { groups } = loaded(await loadConfiguration('.', builtIns, {}));
    const quota = (group: string) =>
      groups
        .get(group)
        ?.offers.get('alpha-image-4k')
        ?.rate.quota({ ...noUsage, images: 2 });
    expect(quota('default')).toBe(400_000);
    expect(quota('vip')).toBe(320_000);
  });
});

describe('substitution', () => {
  test('environment, default and file; the file is watched', async () => {
    const folder = createFolder();
    folder.write('google.key', 'key-from-a-file\n');
    folder.edit('channels.yaml', `$\{env:GOOGLE_API_KEY}`, `$\{file:google.key}`);
    folder.edit('channels.yaml', 'https://gemini.example', `$\{env:GOOGLE_URL:-https://default.example}`);
    folder.edit('channels.yaml', 'weight: 3', `weight: $\{env:WEIGHT:-7}\n    headers: { x-price: "$$\{env:X}" }`);
    const configuration = loaded(await loadConfiguration(folder.path, registry, {}));
    const google = configuration.channels.find((channel) => channel.name === 'google-main');
    expect(google?.credentials).toEqual(['key-from-a-file']);
    expect(google?.origin).toBe('https://default.example');
    expect(google?.weight).toBe(7);
    expect(google?.headers).toEqual({ 'x-price': `$\{env:X}` });
    expect(configuration.files).toContain(join(folder.path, 'google.key'));
  });

  test('an operator’s file that is missing is watched too, so that its arrival counts', async () => {
    const folder = createFolder();
    folder.edit('channels.yaml', `$\{env:GOOGLE_API_KEY}`, `$\{file:google.key}`);
    const before = await loadConfiguration(folder.path, registry, {});
    expect(before.ok).toBe(false);
    expect(before.ok ? [] : before.files).toContain(join(folder.path, 'google.key'));
    writeFileSync(join(folder.path, 'google.key'), 'key');
    expect((await loadConfiguration(folder.path, registry, {})).ok).toBe(true);
  });
});

describe('optional channels', () => {
  test('one without its variable is left out, its models stay offered without a channel', async () => {
    const folder = createFolder();
    folder.edit('channels.yaml', 'weight: 3', 'optional: true');
    const configuration = loaded(await loadConfiguration(folder.path, registry, {}));
    expect(configuration.channels.map((channel) => channel.name)).toEqual(['openai-main']);
    expect(configuration.groups.get('vip')?.offers.get('beta-3-pro-image')?.tiers).toEqual([]);
    expect(configuration.notices).toEqual([
      'the channel google-main is left out: the environment variable GOOGLE_API_KEY is not set',
      'no channel serves the model beta-3-pro-image',
    ]);
  });

  test('one with its variable is an ordinary channel', async () => {
    const folder = createFolder();
    folder.edit('channels.yaml', 'weight: 3', 'optional: true');
    const configuration = loaded(await loadConfiguration(folder.path, registry, environment));
    expect(configuration.channels).toHaveLength(2);
    expect(configuration.notices).toEqual([]);
  });
});

test('a group that no channel serves and a model that no channel serves are notices', async () => {
  const folder = createFolder();
  folder.edit('channels.yaml', 'vip:', 'idle: { multiplier: "2" }\n  vip:');
  folder.edit('models.yaml', 'demo-chat:', 'beta-4-image: { family: beta, price: { image: "0.15" } }\n  demo-chat:');
  const configuration = loaded(await loadConfiguration(folder.path, registry, environment));
  expect(configuration.notices).toEqual([
    'no channel serves the group idle',
    'no channel serves the model beta-4-image',
  ]);
});

test('gateway.yaml may be empty', async () => {
  const folder = createFolder();
  folder.write('gateway.yaml', '');
  const { gateway } = loaded(await loadConfiguration(folder.path, registry, environment));
  expect(gateway.listen).toEqual({ host: '127.0.0.1', port: 8080 });
  expect(gateway.dataDirectory).toBe(join(folder.path, 'data'));
  expect(gateway.drain.timeout).toBe(30_000);
});

describe('failover', () => {
  const table = async (edit: string, path: string) => {
    const folder = createFolder();
    folder.edit('routes.yaml', 'routes:\n', `${edit}\nroutes:\n`);
    const { routes } = loaded(await loadConfiguration(folder.path, registry, environment));
    return routes.find((route) => route.path === path)?.failover ?? {};
  };

  test('7 safe defaults: what the client did is told, what the channel did goes on', async () => {
    const chat = await table('', '/v1/chat/completions');
    for (const reason of ['connect', 'credential', 'reset', 'timeout', 'malformed', '429', '500', '502', '503']) {
      expect(chat[reason]).toBe('next');
    }
    for (const reason of ['moderation', '400', '401', '403', '404', '413', '422', '418']) {
      expect(chat[reason]).toBe('stop');
    }
  });

  test('7 an image that may have been made and charged is not tried again', async () => {
    const images = await table('', '/v1/images/generations');
    for (const reason of ['reset', 'timeout', 'malformed', '504']) expect(images[reason]).toBe('stop');
    for (const reason of ['connect', 'credential', 'no-image', '429', '503']) expect(images[reason]).toBe('next');
  });

  test('7 the file’s default changes all but what is safe for images; an operation’s own entries change that too', async () => {
    const byDefault = 'failover: { default: { timeout: next, 404: next, 5xx: stop, 503: next } }';
    const images = await table(byDefault, '/v1/images/generations');
    expect([images.timeout, images['404'], images['500'], images['503']]).toEqual(['stop', 'next', 'stop', 'next']);
    const byOperation = 'failover: { operations: { images.generate: { timeout: next } } }';
    expect((await table(byOperation, '/v1/images/generations')).timeout).toBe('next');
  });
});
