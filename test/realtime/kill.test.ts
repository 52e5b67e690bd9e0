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
import { asText, bearer, create, open, requestId, say } from './support.ts';

let simulator: Simulator;
let folder: string;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  simulator = await startSimulator();
  folder = await mkdtemp(join(tmpdir(), 'gateway-realtime-'));
  for (const name of ['channels', 'models', 'routes'])
    await copyFile(join(packageRoot(), `${name}.yaml`), join(folder, `${name}.yaml`));
  await writeFile(join(folder, 'gateway.yaml'), 'log: { level: info, format: json, requests: false }\n');
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

/** The built gateway as its own process; answers when it is ready. */
async function serve(): Promise<{ child: ChildProcess; base: string }> {
  const main = join(packageRoot(), 'dist/engine/main.js');
  const child = spawn(
    process.execPath,
    [main, 'serve', '--config', folder, '--data', join(folder, 'data'), '--port', '0'],
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

/** Answers until the connection breaks: session → answers whose end the client saw. */
async function converse(base: string, key: string): Promise<[string, number]> {
  const client = await open(base, { headers: bearer(key) });
  client.send(asText);
  let answers = 0;
  for (;;) {
    const from = client.events.length;
    client.send(say('Hello [chunks=3]'), create);
    const done = await client.until('response.done', from).catch(() => null);
    if (done === null) return [requestId(client), answers];
    answers++;
  }
}

it('D kill -9 during sessions: every answer that ended is in the usage log once, the sums agree', async () => {
  const before = await openAccounts(join(folder, 'data'));
  const user = await before.createUser({ name: 'talker' });
  await before.credit(user.id, 1_000_000_000, 'test');
  const { secret } = await before.createKey({ userId: user.id, name: 'one', group: 'default' });
  await before.close();

  const seen: [string, number][] = [];
  for (const life of [600, 900]) {
    const { child, base } = await serve();
    const talking = Array.from({ length: 8 }, () => converse(base, secret));
    await delay(life);
    child.kill('SIGKILL');
    seen.push(...(await Promise.all(talking)));
  }
  const { child } = await serve();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);

  const accounts = await openAccounts(join(folder, 'data'));
  try {
    const rows = await accounts.usage({ limit: 10_000 });
    const ids = rows.map(({ requestId }) => requestId);
    expect(new Set(ids).size).toBe(ids.length);
    const known = new Set(ids);
    const answered = seen.flatMap(([id, count]) => Array.from({ length: count }, (_, index) => `${id}.${index + 1}`));
    expect(answered.length).toBeGreaterThan(20);
    expect(answered.filter((id) => !known.has(id))).toEqual([]);
    // At most one answer a session was booked whose end was on its way to the client.
    expect(ids.length).toBeLessThanOrEqual(answered.length + seen.length);
    expect(await accounts.audit()).toMatchObject({ ok: true });
  } finally {
    await accounts.close();
  }
}, 60_000);
