import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatFault, loadConfiguration } from '../../engine/config/index.ts';
import { createFolder } from './folder.ts';
import { registry } from './registry.ts';

const corpus = join(import.meta.dirname, 'broken');
const environment = { GOOGLE_API_KEY: 'very-secret-google-key', EMPTY_VARIABLE: '' };

/** The faults of the base configuration with the files of the case laid over it. */
async function faultsOf(name: string): Promise<string> {
  const folder = createFolder();
  cpSync(join(corpus, name), folder.path, { recursive: true });
  const result = await loadConfiguration(folder.path, registry, environment);
  const lines = result.ok ? ['no fault'] : result.faults.map(formatFault);
  return lines.map((line) => `${line.replaceAll(`${folder.path}/`, '')}\n`).join('');
}

const cases = readdirSync(corpus);

test('there are at least 60 broken configurations', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60);
});

test.each(cases)('broken configuration: %s', async (name) => {
  const found = await faultsOf(name);
  const file = join(corpus, name, 'expected.txt');
  if (process.env.UPDATE_EXPECTED === '1' && !existsSync(file)) writeFileSync(file, found);
  expect(found).toBe(readFileSync(file, 'utf8'));
  expect(found).not.toBe('no fault\n');
  expect(found).not.toContain(environment.GOOGLE_API_KEY);
});
