import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../engine/config/index.ts';
import { openAccounts } from '../../engine/ledger/index.ts';
import { type Simulator, startSimulator } from '../../simulator/index.ts';

let simulator: Simulator;
let folder: string;
let data: string;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  simulator = await startSimulator();
  folder = await mkdtemp(join(tmpdir(), 'gateway-kill-'));
  data = join(folder, 'data');
  for (const name of ['channels', 'models', 'routes'])
    await copyFile(join(packageRoot(), `${name}.yaml`), join(folder, `${name}.yaml`));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

/** The built gateway as its own process; answers when it is ready. */
async function serve(): Promise<{ child: ChildProcess; base: string }> {
  const child = spawn(
    process.execPath,
    [join(packageRoot(), 'dist/engine/main.js'), 'serve', '--config', folder, '--data', data, '--port', '0'],
    {
      env: { ...process.env, SIMULATOR_URL: simulator.url },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  children.add(child);
  child.on('exit', () => children.delete(child));
  for await (const line of createInterface({ input: child.stderr! })) {
    const entry = JSON.parse(line) as { msg: string; address?: string };
    if (entry.msg !== 'ready') continue;
    child.stderr?.resume();
    return { child, base: `${entry.address}/v1` };
  }
  throw new Error('the gateway ended before it was ready');
}

const requests = [
  {
    path: '/chat/completions',
    body: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] },
    end: /"usage"/,
  },
  {
    path: '/chat/completions',
    body: { model: 'demo-chat', stream: true, messages: [{ role: 'user', content: 'Hello [chunks=20][delay=2]' }] },
    end: /data: \[DONE\]\n\n$/,
  },
  { path: '/images/generations', body: { model: 'alpha-image-1k', prompt: 'a fox [bytes=5000]' }, end: /"url"/ },
  {
    path: '/images/generations',
    body: { model: 'beta-3-pro-image', prompt: 'a fox [bytes=5000]', stream: true },
    end: /data: \[DONE\]\n\n$/,
  },
];

/** Asks until the gateway is gone; answers the ids of the requests whose whole answer came. */
async function load(base: string, key: string, workers: number): Promise<string[]> {
  const answered: string[] = [];
  const worker = async (index: number) => {
    for (let turn = index; ; turn++) {
      const { path, body, end } = requests[turn % requests.length]!;
      try {
        const response = await fetch(base + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        const text = await response.text();
        expect(response.status, text).toBe(200);
        if (end.test(text)) answered.push(response.headers.get('x-request-id') ?? '');
      } catch (error) {
        // Killed: fetch throws a TypeError. Anything else is a fault of the test.
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, index) => worker(index)));
  return answered;
}

it.each(['batch', 'interval'])(
  'D kill -9 under load, journal %s: every answered request is in the usage log once',
  async (sync) => {
    await writeFile(
      join(folder, 'gateway.yaml'),
      `ledger: { engine: sqlite, journal: { sync: ${sync} } }\nlog: { level: info, format: json, requests: false }\n`,
    );
    const before = await openAccounts(data);
    const user = await before.createUser({ name: 'loaded' });
    await before.credit(user.id, 1_000_000_000, 'test');
    const { secret } = await before.createKey({ userId: user.id, name: 'one', group: 'default' });
    await before.close();

    const answered: string[] = [];
    for (const life of [500, 800, 1_100]) {
      const { child, base } = await serve();
      const loading = load(base, secret, 12);
      await delay(life);
      child.kill('SIGKILL');
      answered.push(...(await loading));
    }
    const { child } = await serve();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);

    const accounts = await openAccounts(data);
    try {
      const rows = await accounts.usage({ limit: 10_000 });
      const ids = rows.map((row) => row.requestId);
      expect(new Set(ids).size).toBe(ids.length);
      const known = new Set(ids);
      expect(answered.length).toBeGreaterThan(50);
      expect(new Set(answered).size).toBe(answered.length);
      expect(answered.filter((id) => !known.has(id))).toEqual([]);
      for (const row of rows) if (answered.includes(row.requestId)) expect(row.quota).toBeGreaterThan(0);
      expect(await accounts.audit()).toMatchObject({ ok: true });
    } finally {
      await accounts.close();
    }
  },
  60_000,
);
