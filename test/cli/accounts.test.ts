import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { expect, test } from 'vitest';
import { cleanUpAfterAll, configuration, start, temporaryFolder } from './command.ts';
import { call } from './in-process.ts';

cleanUpAfterAll();

test('users, keys, credits and the usage log beside a running gateway', async () => {
  const data = await temporaryFolder();
  const gateway = (...words: readonly string[]) => call([...words, '--config', configuration, '--data', data]);
  const empty = await gateway('users', 'list');
  expect(empty).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('gateway users create') });

  const serving = start(['serve', '--port', '0', '--data', data]);
  const created = await gateway('users', 'create', 'alice', '--email', 'alice@example.com', '--json');
  expect(JSON.parse(created.stdout)).toMatchObject({ id: 1, name: 'alice', balance: 0, balanceUsd: '0.00' });
  const made = await gateway('keys', 'create', 'alice', '--models', 'talk', '--quota', '0.5');
  expect(made.stdout).toMatch(/^sk-[0-9A-Za-z]{48}\n$/);
  const key = made.stdout.trim();
  const [, address] = await serving.until('stderr', /"address":"([^"]+)"/);

  // No vendor is called: without money the request ends before.
  const ask = async () => {
    const body = JSON.stringify({ model: 'talk', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const reply = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body });
    return ((await reply.json()) as { error: { code: string } }).error.code;
  };
  expect(await ask()).toBe('insufficient_quota');
  const credited = await gateway('users', 'credit', 'alice', '5.00', '--reference', 'invoice-1', '--json');
  expect(JSON.parse(credited.stdout)).toMatchObject({
    amount: 2_500_000,
    user: { balance: 2_500_000, balanceUsd: '5.00' },
  });
  const again = await gateway('users', 'credit', 'alice', '5.00', '--reference', 'invoice-1', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ user: { balance: 2_500_000 } });
  await delay(1000);
  expect(await ask()).not.toBe('insufficient_quota');

  expect((await gateway('users', 'disable', 'alice')).stdout).toContain('alice is disabled');
  expect((await gateway('users', 'list')).stdout).toMatch(/ 1 +alice .* disabled/);
  await delay(1000);
  expect(await ask()).toBe('account_disabled');
  expect(JSON.parse((await gateway('users', 'enable', '1', '--json')).stdout)).toMatchObject({ disabled: false });
  await delay(1000);
  expect(await ask()).not.toBe('account_disabled');

  expect((await gateway('keys', 'revoke', '1')).stdout).toMatch(/^Key 1 .* is revoked\.\n$/);
  await delay(1000);
  expect(await ask()).toBe('disabled_api_key');
  const keys = await gateway('keys', 'list', '--user', 'alice');
  expect(keys.stdout).toMatch(/ 1 +sk-\S+ +1 +key +default +talk +0\.50 +0\.50 +– +revoked/);
  expect(keys.stdout).not.toContain(key);

  const usage = await gateway('usage', '--user', 'alice', '--json');
  const rows = JSON.parse(usage.stdout) as { model: string; code: string; quota: number }[];
  expect(rows.map(({ model, quota }) => [model, quota])).toEqual([
    ['talk', 0],
    ['talk', 0],
    ['talk', 0],
  ]);
  expect(rows.at(-1)!.code).toBe('insufficient_quota');
  const audit = await gateway('audit');
  expect(audit).toMatchObject({ code: 0, stdout: expect.stringContaining('The books are right') });
  expect((await gateway('users', 'list')).stdout).toMatch(/ 1 +alice +alice@example\.com +5\.00 +2500000 +active/);
});

test('audit ends with 1 where the books are wrong, and names the account', async () => {
  const data = await temporaryFolder();
  const gateway = (...words: readonly string[]) => call([...words, '--data', data]);
  await gateway('users', 'create', 'alice');
  await gateway('users', 'credit', 'alice', '5.00');
  const before = await gateway('audit', '--json');
  expect([before.code, JSON.parse(before.stdout)]).toMatchObject([0, { ok: true, faults: [] }]);
  const database = new Database(join(data, 'gateway.db'));
  database.exec('UPDATE users SET balance = balance + 7');
  database.close();
  const { code, stdout } = await gateway('audit');
  expect(code).toBe(1);
  expect(stdout).toMatch(/ 1 +alice +2500000 +0 +2500007 .* 7\n/);
  expect(stdout).toContain('The books are wrong.');
  const after = await gateway('audit', '--json');
  expect(JSON.parse(after.stdout)).toMatchObject({ ok: false, accounts: [{ difference: 7 }] });
  expect(after.code).toBe(1);
});

test('names that do not exist end with 1 and a guess', async () => {
  const data = await temporaryFolder();
  expect((await call(['users', 'create', 'bob', '--data', data])).code).toBe(0);
  const results = [];
  for (const words of [
    ['users', 'credit', 'nobody', '1', '--data', data],
    ['keys', 'create', 'bob', '--group', 'vpi', '--config', configuration, '--data', data],
    ['keys', 'create', 'bob', '--models', 'tlak', '--config', configuration, '--data', data],
    ['keys', 'revoke', '99', '--data', data],
    ['users', 'disable', 'nobody', '--data', data],
    ['users', 'create', 'bob', '--data', data],
  ])
    results.push(await call(words));
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
    [1, 'gateway: There is no user nobody. See gateway users list.\n'],
    [1, 'gateway: There is no group vpi. Did you mean "vip"?\n'],
    [1, 'gateway: There is no model tlak. Did you mean "talk"?\n'],
    [1, expect.stringContaining('There is no such key')],
    [1, 'gateway: There is no user nobody. See gateway users list.\n'],
    [1, expect.stringContaining('bob')],
  ]);
});

test.skipIf(process.platform !== 'linux')(
  'a data directory that cannot be made ends with the reason (needs /proc: Linux)',
  async () => {
    const { code, stderr } = await call(['users', 'create', 'bob', '--data', '/proc/nope/data']);
    expect(code).toBe(1);
    expect(stderr).toContain('/proc/nope');
  },
);
