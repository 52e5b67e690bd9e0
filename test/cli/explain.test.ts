import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bodyFile, cleanUpAfterAll, configuration, run, temporaryFolder } from './command.ts';
import { call } from './in-process.ts';

cleanUpAfterAll();

const golden = (name: string) => readFile(join(import.meta.dirname, 'golden', `${name}.txt`), 'utf8');

const explain = (...words: readonly string[]) => call(['explain', '--config', configuration, ...words]);

/** The boundary of a form is random. */
const stable = (text: string) => text.replace(/form-[0-9a-f]{36}/g, 'form-…');

test.each([
  ['explain-chat', ['--model', 'talk'], { messages: [{ role: 'user', content: 'hi' }], user: 'u1', max_tokens: 50 }],
  ['explain-chat-vip', ['--model', 'talk', '--group', 'vip', '--channel', 'spare'], null],
  ['explain-fixed-size', ['--model', 'square-image'], { prompt: 'a fox', size: '512x512', n: 2 }],
  ['explain-converted-size', ['--model', 'wide-image', '--group', 'vip'], { prompt: 'a fox', size: '1920x1080' }],
  ['explain-edit', ['--model', 'square-image', '--edit'], null],
])('%s', async (name, words, body) => {
  const result = await explain(...words, ...(body === null ? [] : ['--body', await bodyFile(body)]));
  expect(stable(result.stdout)).toBe(await golden(name));
  expect(result).toMatchObject({ code: 0, stderr: '' });
});

test('routes', async () => {
  expect(await call(['routes', '--config', configuration])).toEqual({
    code: 0,
    stdout: await golden('routes'),
    stderr: '',
  });
});

test('an unknown model gets the client’s message and a guess', async () => {
  expect(await explain('--model', 'tlak')).toEqual({
    code: 1,
    stdout: '',
    stderr: '404 model_not_found: The model `tlak` does not exist. See GET /v1/models. (did you mean "talk"?)\n',
  });
});

test('a channel that is not there is told apart from one that would not be tried', async () => {
  const missing = await explain('--model', 'talk', '--channel', 'spar');
  expect(missing).toEqual({
    code: 1,
    stdout: '',
    stderr: 'gateway: There is no channel spar. Did you mean "spare"?\n',
  });
  const idle = await explain('--model', 'square-image', '--channel', 'spare');
  expect(idle.stderr).toBe('gateway: The channel spare would not be tried.\n');
});

test('4.2(2) a contradiction is told as the client would be told', async () => {
  const input = JSON.stringify({ prompt: 'a fox', size: '1024x1024', aspect_ratio: '16:9' });
  const { code, stderr } = await run(['explain', '--model', 'wide-image', '--body', '-'], { input });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^400 conflicting_parameters: .*`size`.*`aspect_ratio`/);
});

test('no secret is shown, wherever it comes from', async () => {
  vi.stubEnv('SPARE_KEY', 'sk-from-the-environment-0123456789');
  onTestFinished(() => void vi.unstubAllEnvs());
  const results = [];
  for (const channel of ['first', 'second', 'spare'])
    results.push(await explain('--model', 'talk', '--channel', channel, '--json'));
  const shown = results.map(({ stdout }) => stdout).join('');
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(shown).toContain('"authorization": "Bearer sk-…ABCD"');
  expect(shown).toContain('"authorization": "Bearer sk-…6789"');
  expect(shown).toContain('"openai-organization": "org-visible"');
  for (const secret of ['0123456789abcdef', 'hidden-token', 'from-the-environment', 'Bearer short'])
    expect(shown).not.toContain(secret);
});

test('as a key: its group, its allowlist and its money decide', async () => {
  const data = await temporaryFolder();
  await call(['users', 'create', 'carol', '--data', data]);
  const made = await call([
    'keys',
    'create',
    'carol',
    '--group',
    'vip',
    '--models',
    'talk',
    '--config',
    configuration,
    '--data',
    data,
    '--json',
  ]);
  const { key, secret } = JSON.parse(made.stdout) as { key: { prefix: string }; secret: string };
  const as = (which: string, model: string) => explain('--model', model, '--key', which, '--data', data, '--json');
  const poor = await as(secret, 'talk');
  const forbidden = await as('1', 'wide-image');
  expect(poor.stderr).toMatch(/^429 insufficient_quota/);
  expect(JSON.parse(poor.stdout)).toMatchObject({ group: 'vip', price: { multiplier: '0.8' } });
  expect(forbidden.stderr).toMatch(/^403 model_not_allowed/);
  await call(['users', 'credit', 'carol', '1', '--data', data]);
  expect((await as(key.prefix, 'talk')).code).toBe(0);
});
