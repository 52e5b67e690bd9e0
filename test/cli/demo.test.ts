import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cleanUpAfterAll, run, start, temporaryFolder } from './command.ts';

cleanUpAfterAll();

const shell = (command: string) => promisify(execFile)('sh', ['-c', command]);

interface Ready {
  readonly ready: boolean;
  readonly base_url: string;
  readonly key: string;
  readonly simulator: string;
  readonly data: string;
}

async function startDemo(...words: readonly string[]) {
  const demo = start(['demo', '--port', '0', ...words]);
  await demo.until('stdout', /\/models .*\n$/);
  const lines = demo.output.stdout.split('\n').filter((line) => line !== '');
  return { demo, ready: JSON.parse(lines[0]!) as Ready, commands: lines.slice(1) };
}

test('demo prints one JSON line and three curl commands that work; Ctrl-C ends it cleanly', async () => {
  const { demo, ready, commands } = await startDemo();
  expect(ready).toEqual({
    ready: true,
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    key: expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/),
    simulator: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    data: expect.any(String),
  });
  expect(commands).toHaveLength(3);
  const [chat, image, models] = await Promise.all(commands.map((command) => shell(command)));
  expect(chat!.stdout).toMatch(/^data: \{[\s\S]*"delta"[\s\S]*data: \[DONE\]\n\n$/);
  const { url } = (JSON.parse(image!.stdout) as { data: { url: string }[] }).data[0]!;
  const picture = await fetch(url);
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  const names = (JSON.parse(models!.stdout) as { data: { id: string }[] }).data.map(({ id }) => id);
  expect(names).toEqual(
    expect.arrayContaining([
      'alpha-image-1k',
      'alpha-image-2k',
      'alpha-image-4k',
      'beta-3.1-flash-image',
      'beta-3-pro-image',
      'gamma-imagine-image',
      'demo-chat',
    ]),
  );
  const usage = await run(['usage', '--data', ready.data, '--json']);
  const rows = JSON.parse(usage.stdout) as { model: string; outcome: string }[];
  expect(rows.map(({ model, outcome }) => `${model} ${outcome}`).sort()).toEqual(['alpha-image-1k ok', 'demo-chat ok']);

  demo.child.kill('SIGINT');
  expect(await demo.finished).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(ready.data)).toBe(false);
});

test('demo --data keeps the data; the next start has a new key and the old one ends', async () => {
  const data = await temporaryFolder();
  const first = await startDemo('--data', data);
  first.demo.child.kill('SIGTERM');
  expect((await first.demo.finished).code).toBe(0);

  const second = await startDemo('--data', data);
  const statusOf = async (key: string) =>
    (await fetch(`${second.ready.base_url}/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(second.ready.data).toBe(data);
  expect(await statusOf(second.ready.key)).toBe(200);
  expect(await statusOf(first.ready.key)).toBe(401);
  const users = await run(['users', 'list', '--data', data, '--json']);
  expect(JSON.parse(users.stdout)).toMatchObject([{ name: 'demo', balanceUsd: '20.00' }]);
});

test('demo on a taken port is one sentence', async () => {
  const { ready } = await startDemo('--data', await temporaryFolder());
  const port = new URL(ready.base_url).port;
  const { code, stdout, stderr } = await run(['demo', '--port', port]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    new RegExp(`^gateway: Cannot listen on 127\\.0\\.0\\.1:${port}: the port is taken.*--port\\.\\n$`),
  );
});

test('simulate prints base URLs that answer', async () => {
  const simulation = start(['simulate', '--port', '0', '--json']);
  const [line] = await simulation.until('stdout', /^\{.*\}\n/);
  const { vendors } = JSON.parse(line) as { vendors: Record<string, string> };
  expect(Object.keys(vendors).sort()).toEqual(['anthropic', 'cohere', 'gemini', 'jina', 'openai', 'xai']);
  expect((await fetch(`${vendors.openai}/models`)).status).toBe(401);
  simulation.child.kill('SIGINT');
  expect((await simulation.finished).code).toBe(0);
});
