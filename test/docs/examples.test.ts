import { readdirSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { NormalizerDefinition, PluginDefinition, VendorDefinition } from '../../engine/plugin.ts';
import { createHost, openNormalizer, openPlugin, openVendor } from '../kit/plugin.ts';
import { compileErrors } from './compile.ts';

const folder = join(import.meta.dirname, '../../examples/plugins');
const load = async <D>(name: string): Promise<D> => (await import(pathToFileURL(join(folder, name)).href)).default;

describe('the examples of docs/plugins.md', () => {
  test('all compile against the types that the gateway ships', () => {
    const files = readdirSync(folder).map((name) => join(folder, name));
    expect(files.length).toBeGreaterThanOrEqual(3);
    expect(compileErrors(files)).toEqual([]);
  });

  test('a mistake in an example would be found', async ({ onTestFinished }) => {
    const wrong = await mkdtemp(join(folder, '..', 'wrong-'));
    onTestFinished(() => rm(wrong, { recursive: true, force: true }));
    await cp(join(folder, 'acme-vendor.js'), join(wrong, 'good.js'));
    await writeFile(
      join(wrong, 'bad.js'),
      "import { defineVendor } from 'unified-model-gateway/plugin';\nexport default defineVendor({ name: 7 });\n",
    );
    expect(compileErrors([join(wrong, 'good.js')])).toEqual([]);
    expect(compileErrors([join(wrong, 'bad.js')])[0]).toMatch(/bad\.js:2 .*number.*string/);
  });
});

describe('daily-cap', () => {
  const open = async (requests: number) =>
    openPlugin(await load<PluginDefinition>('daily-cap.js'), { options: { requests }, host: createHost() });

  test('counts per key and says when the next day begins', async () => {
    const plugin = await open(2);
    const key = { id: 101 };
    expect((await plugin.request({ key })).refusal).toBeNull();
    expect((await plugin.request({ key })).refusal).toBeNull();
    const { refusal } = await plugin.request({ key });
    expect(refusal).toMatchObject({ status: 429, code: 'rate_limit_exceeded', retryAfter: 12 * 3600 });
    expect((await plugin.request({ key: { id: 102 } })).refusal).toBeNull();
  });

  test('a new day begins at midnight UTC', async () => {
    const plugin = await open(1);
    const key = { id: 103 };
    await plugin.request({ key });
    expect((await plugin.request({ key })).refusal).not.toBeNull();
    plugin.host.advance(12 * 3_600_000);
    expect((await plugin.request({ key })).refusal).toBeNull();
  });

  test('a failed request does not count', async () => {
    const plugin = await open(1);
    const key = { id: 104 };
    await plugin.request({ key }, { kind: 'error', status: 502, code: 'upstream_error' });
    expect((await plugin.request({ key })).refusal).toBeNull();
  });
});

describe('acme-vendor', () => {
  test('the request that Acme gets', async () => {
    const vendor = openVendor(await load<VendorDefinition>('acme-vendor.js'));
    const { url, headers, body } = vendor.request({ body: { temperature: 0.5, theirs: true } });
    expect(url).toBe('https://api.acme.example/2026/chat');
    expect(headers).toMatchObject({ 'x-acme-key': 'secret', 'x-acme-version': '2026-10-01' });
    expect(body).toMatchObject({ model: 'vendor-model', temperature: 0.5, theirs: true });
    const image = vendor.request({ protocol: 'openai-images', body: { prompt: 'A fox' } });
    expect(image.url).toBe('https://api.acme.example/2026/models/vendor-model/images');
    expect(image.body).toMatchObject({ model: 'vendor-model', prompt: 'A fox', n: 1 });
  });

  test('a rejected key is the account’s trouble, never a 401 for the client', async () => {
    const vendor = openVendor(await load<VendorDefinition>('acme-vendor.js'));
    const rejected = vendor.failure(400, { error: { message: 'No.', code: 'key_rejected' } });
    expect(rejected).toMatchObject({ reason: 'credential', action: 'next', client: { status: 502 } });
    const refused = vendor.failure(400, { error: { message: 'This breaks the house rules.' } });
    expect(refused).toMatchObject({ reason: 'moderation', action: 'stop', client: { code: 'moderation_blocked' } });
    const ordinary = vendor.failure(400, { error: { message: 'temperature is too high', param: 'temperature' } });
    expect(ordinary).toMatchObject({ reason: 'status', action: 'stop', client: { status: 400 } });
  });
});

describe('poster-family', () => {
  const rules = { formats: { A4: '1240x1754', A3: '1754x2480' } };

  test('a format becomes pixels, an unknown one is refused', async () => {
    const normalize = openNormalizer(await load<NormalizerDefinition>('poster-family.js'), rules);
    expect(normalize({ body: { size: 'A3' } }).settings).toMatchObject({ n: 1, size: '1754x2480' });
    expect(normalize().settings?.size).toBe('1240x1754');
    expect(normalize({ body: { size: 'B5' } }).refusal).toMatchObject({ code: 'invalid_value', param: 'size' });
    expect(normalize({ body: { n: 2 } }).refusal).toMatchObject({ code: 'invalid_value', param: 'n' });
  });

  test('rules that cannot work are refused while the configuration loads', async () => {
    const poster = await load<NormalizerDefinition>('poster-family.js');
    expect(() => openNormalizer(poster, { ...rules, default: 'B5' })).toThrow(
      'the default B5 is not among the formats',
    );
    expect(() => openNormalizer(poster, {})).toThrow('poster');
  });
});
