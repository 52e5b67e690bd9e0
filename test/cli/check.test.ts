import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanUpAfterAll, configuration, start, temporaryFolder } from './command.ts';
import { call } from './in-process.ts';

cleanUpAfterAll();

/** A copy of the configuration with some text of one file replaced. */
async function changed(file: string, text: string, replacement: string): Promise<string> {
  const folder = await temporaryFolder();
  await cp(configuration, folder, { recursive: true });
  const before = await readFile(join(folder, file), 'utf8');
  expect(before).toContain(text);
  await writeFile(join(folder, file), before.replace(text, replacement));
  return folder;
}

test('check of a good folder tells its size and its notices', async () => {
  const { code, stdout } = await call(['check', '--config', configuration]);
  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      'The configuration is valid: 3 models, 4 channels, 3 routes.',
      'notice: the channel unset is left out: the environment variable CLI_TEST_UNSET is not set',
      '',
      'No gateway is running on the data directory: there is nothing to compare with.',
      '',
    ].join('\n'),
  );
});

test('check prints every fault with file, line, column and the word that was meant', async () => {
  const folder = await changed('routes.yaml', 'operation: chat,', 'operation: chta,');
  const { code, stdout } = await call(['check', '--config', folder]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^\S+\/routes\.yaml:9:18 routes\[0\]\.operation: .* \(did you mean "chat"\?\)\n/);
  expect(stdout).toMatch(/\n\d+ faults?\.\n$/);
  const json = await call(['check', '--config', folder, '--json']);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    faults: [{ file: join(folder, 'routes.yaml'), line: 9, column: 18, hint: 'chat' }],
  });
});

test('check finds what a plugin refuses when it starts', async () => {
  const folder = await changed(
    'routes.yaml',
    'chains:',
    'plugins: [./picky.mjs]\nchains:\n  picky: [auth, { picky: { level: 11 } }]',
  );
  const plugin = `export default {
    name: 'picky', summary: 'refuses', options: { type: 'object', additionalProperties: false,
      properties: { level: { type: 'integer', description: 'how much' } } },
    create({ level }) { if (level > 10) throw new Error('the level goes up to 10'); return {}; },
  };`;
  await writeFile(join(folder, 'picky.mjs'), plugin);
  const { code, stdout } = await call(['check', '--config', folder]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /routes\.yaml:3:17 chains\.picky\[1\]: the plugin picky cannot start: the level goes up to 10\n/,
  );
});

test('check --against another folder tells in words what would change', async () => {
  const folder = await changed('models.yaml', 'price: { image: "0.20" }', 'price: { image: "0.25" }');
  const same = await call(['check', '--config', configuration, '--against', configuration]);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing would change') });
  const other = await call(['check', '--config', folder, '--against', configuration]);
  expect(other.code).toBe(0);
  expect(other.stdout).toContain('  models: price of square-image 0.20 → 0.25\n');
});

test('check --against a copy in another folder finds no change, with a plugin and a data directory of its own', async () => {
  const folder = await changed('routes.yaml', 'chains:', 'plugins: [./idle.mjs]\nchains:');
  const plugin = `export default {
    name: 'idle', summary: 'does nothing', options: { type: 'object', additionalProperties: false, properties: {} },
    create() { return {}; },
  };`;
  await writeFile(join(folder, 'idle.mjs'), plugin);
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true });
  const { stdout } = await call(['check', '--config', copy, '--against', folder]);
  expect(stdout).toContain(`Nothing would change against ${folder}.`);
  await writeFile(join(copy, 'idle.mjs'), plugin.replace('nothing', 'little'));
  const other = await call(['check', '--config', copy, '--against', folder]);
  expect(other.stdout).toContain('  plugins: idle loaded anew\n');
});

test('check compares with the gateway that runs on the data directory', async () => {
  const next = await changed('channels.yaml', 'weight: 3', 'weight: 5');
  const data = await temporaryFolder();
  const gateway = start(['serve', '--port', '0', '--data', data]);
  await gateway.until('stderr', /"ready"/);
  const { code, stdout } = await call(['check', '--config', next, '--data', data]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Against the gateway running on ${data}:\n  channels: weight of first 3 → 5\n`);
  const kept = await readFile(join(data, 'active-configuration.json'), 'utf8');
  expect(kept).toContain('${env:CLI_TEST_XAI:-');

  gateway.child.kill('SIGKILL');
  await gateway.finished;
  const after = await call(['check', '--config', next, '--data', data]);
  expect(after.stdout).toContain('No gateway is running');
});
