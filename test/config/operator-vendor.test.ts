import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startStack } from '../kit/stack.ts';

let folder = '';
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What the start says to a module with this source. */
async function refusalOf(source: string, chain?: string[]): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'gateway-module-'));
  const file = join(folder, 'module.mjs');
  await writeFile(file, source);
  return startStack({
    edit: ({ routes }) => {
      routes.plugins = [file];
      if (chain !== undefined) routes.chains.chat = chain;
    },
  }).then(
    async (stack) => {
      await stack.close();
      return 'it started';
    },
    (error: Error) => error.message,
  );
}

const vendor = (over: object) =>
  `export default ${JSON.stringify({
    name: 'novus',
    summary: 'a vendor',
    baseUrl: 'https://novus.example/v1',
    auth: { header: 'authorization', value: 'Token {credential}' },
    speaks: { 'openai-chat': { whole: '/chat', stream: '/chat' } },
    ...over,
  })};`;

it.each([
  ['a sound one', {}, 'it started'],
  [
    'one with lists of statuses and codes',
    { failures: [{ status: [402, 403], code: ['no_credit', 'blocked'], reason: 'credential', as: 402 }] },
    'it started',
  ],
  [
    'a misspelt action',
    { speaks: { 'openai-chat': { whole: '/chat', strem: '/chat' } } },
    'openai-chat has no action "strem": use whole, stream',
  ],
  [
    'a missing action',
    { speaks: { 'openai-chat': { whole: '/chat' } } },
    'its "speaks" lacks the path "stream" of openai-chat',
  ],
  [
    'a path without a slash',
    { speaks: { 'openai-chat': { whole: 'chat', stream: '/chat' } } },
    'the path "chat" of openai-chat must start with a slash',
  ],
  [
    'no place for the credential',
    { auth: { header: 'authorization', value: 'Token {secret}' } },
    'its "auth.value" must hold {credential}',
  ],
  ['an unknown reason', { failures: [{ status: 401, reason: 'cred' }] }, '"cred" is no reason of a failure'],
])('B a vendor of an operator: %s', async (_name, over, expected) => {
  expect(await refusalOf(vendor(over))).toContain(expected);
});

it('B a misspelt hook of a plugin is refused', async () => {
  const source = `export default { name: 'filter', summary: 'x', options: { type: 'object', additionalProperties: false, properties: {} }, create: () => ({ onReqest() {} }) };`;
  expect(await refusalOf(source, ['auth', 'filter', 'normalize', 'billing'])).toMatch(
    /routes\.yaml:\d+:\d+ chains\.chat\[1\].*there is no hook onReqest/,
  );
});

it.each(['5', 'null', '[]'])('B a plugin that creates %s instead of its hooks is refused', async (made) => {
  const source = `export default { name: 'filter', summary: 'x', options: { type: 'object', additionalProperties: false, properties: {} }, create: () => (${made}) };`;
  expect(await refusalOf(source, ['auth', 'filter', 'normalize', 'billing'])).toMatch(
    /routes\.yaml:\d+:\d+ chains\.chat\[1\].*answers no object of hooks/,
  );
});
