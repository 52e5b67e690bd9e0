import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, temporaryFolder } from './command.ts';

const golden = (name: string) => readFile(join(import.meta.dirname, 'golden', `${name}.txt`), 'utf8');

/** The boundary of a form is random. */
const stable = (text: string) => text.replace(/form-[0-9a-f]{36}/g, 'form-…');

describe.concurrent('explain', () => {
  test.each([
    [
      'explain-chat',
      ['--model', 'talk', '--body', '-'],
      { messages: [{ role: 'user', content: 'hi' }], user: 'u1', max_tokens: 50 },
    ],
    ['explain-chat-vip', ['--model', 'talk', '--group', 'vip', '--channel', 'spare'], null],
    ['explain-fixed-size', ['--model', 'square-image', '--body', '-'], { prompt: 'a fox', size: '512x512', n: 2 }],
    [
      'explain-converted-size',
      ['--model', 'wide-image', '--group', 'vip', '--body', '-'],
      { prompt: 'a fox', size: '1920x1080' },
    ],
    ['explain-edit', ['--model', 'square-image', '--edit'], null],
  ])('%s', async (name, words, body) => {
    const result = await run(['explain', ...words], body === null ? {} : { input: JSON.stringify(body) });
    expect(stable(result.stdout)).toBe(await golden(name));
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('routes', async () => {
    expect(await run(['routes'])).toEqual({ code: 0, stdout: await golden('routes'), stderr: '' });
  });

  test('an unknown model gets the client’s message and a guess', async () => {
    expect(await run(['explain', '--model', 'tlak'])).toEqual({
      code: 1,
      stdout: '',
      stderr: '404 model_not_found: The model `tlak` does not exist. See GET /v1/models. (did you mean "talk"?)\n',
    });
  });

  test('4.2(2) a contradiction is told as the client would be told', async () => {
    const input = JSON.stringify({ prompt: 'a fox', size: '1024x1024', aspect_ratio: '16:9' });
    const { code, stderr } = await run(['explain', '--model', 'wide-image', '--body', '-'], { input });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^400 conflicting_parameters: .*`size`.*`aspect_ratio`/);
  });

  test('no secret is shown, wherever it comes from', async () => {
    const environment = { SPARE_KEY: 'sk-from-the-environment-0123456789' };
    const results = await Promise.all(
      ['first', 'second', 'spare'].map((channel) =>
        run(['explain', '--model', 'talk', '--channel', channel, '--json'], { environment }),
      ),
    );
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
    await run(['users', 'create', 'carol', '--data', data]);
    const made = await run(['keys', 'create', 'carol', '--group', 'vip', '--models', 'talk', '--data', data, '--json']);
    const { key, secret } = JSON.parse(made.stdout) as { key: { prefix: string }; secret: string };
    const as = (which: string, model: string) =>
      run(['explain', '--model', model, '--key', which, '--data', data, '--json']);
    const [poor, forbidden] = await Promise.all([as(secret, 'talk'), as('1', 'wide-image')]);
    expect(poor.stderr).toMatch(/^429 insufficient_quota/);
    expect(JSON.parse(poor.stdout)).toMatchObject({ group: 'vip', price: { multiplier: '0.8' } });
    expect(forbidden.stderr).toMatch(/^403 model_not_allowed/);
    await run(['users', 'credit', 'carol', '1', '--data', data]);
    expect((await as(key.prefix, 'talk')).code).toBe(0);
  });
});
