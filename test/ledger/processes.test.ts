import { execSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { type OpenLedger, openAccounts } from '../../engine/ledger/index.ts';
import { startChild } from './child.ts';
import { customer, keyOf, newFolder, openIn, usageRow } from './open-folder.ts';

/** A folder with one customer, and nobody in it. */
async function prepared(balance: number) {
  const folder = await newFolder();
  const ledger = await openIn(folder);
  const { secret, userId } = await customer(ledger, balance);
  await ledger.close();
  return { folder, secret, userId };
}

async function usedIds(ledger: OpenLedger): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const before = ids.at(-1);
    const page = await ledger.accounts.usage({ limit: 10_000, ...(before === undefined ? {} : { before }) });
    if (page.length === 0) return ids;
    ids.push(...page.map((row) => row.requestId));
  }
}

const named = (lines: readonly string[], word: string) =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' ')[1]!);

describe('processes that are killed', () => {
  it.each(['off', 'interval', 'batch'] as const)(
    '8 kill -9 while settling: what was acknowledged is charged once (sync %s)',
    async (sync) => {
      const { folder, secret } = await prepared(1e9);
      const acknowledged: string[] = [];
      for (const round of [1, 2, 3]) {
        const child = startChild('settling-process.mjs', [folder, secret, sync, `round${round}`]);
        await child.reach(sync === 'off' ? 3000 * round : 300 * round);
        await child.kill();
        acknowledged.push(...named(child.lines, 'done'));
      }
      const ledger = await openIn(folder);
      const used = await usedIds(ledger);
      expect(new Set(used).size).toBe(used.length);
      const missing = acknowledged.filter((id) => !used.includes(id));
      expect(missing).toEqual([]);
      const audit = await ledger.accounts.audit();
      expect(audit.faults).toEqual([]);
      expect(audit.accounts[0]!.usage).toBe(used.length * 3);
      expect((await keyOf(ledger, secret)).account.available).toBe(1e9 - used.length * 3);
    },
  );

  it('8 a full disk refuses settlements, and what was refused is not charged', async () => {
    const { folder, secret } = await prepared(1e9);
    const child = startChild('settling-process.mjs', [folder, secret, 'off', 'full'], 'ulimit -f 150');
    await child.reach(3000);
    await child.kill();
    const refused = named(child.lines, 'refused');
    expect(refused.length).toBeGreaterThan(100);
    expect(child.lines.find((line) => line.startsWith('refused'))).toMatch(/ internal_error EFBIG$/);
    const acknowledged = named(child.lines, 'done');
    expect(acknowledged.length).toBeGreaterThan(100);
    const ledger = await openIn(folder);
    const used = new Set(await usedIds(ledger));
    expect(acknowledged.filter((id) => !used.has(id))).toEqual([]);
    expect(refused.filter((id) => used.has(id))).toEqual([]);
    expect((await ledger.accounts.audit()).faults).toEqual([]);
  });
});

describe('a disk that was full', () => {
  it('8 goes on by itself when there is room again', async () => {
    const { folder, secret } = await prepared(1e9);
    const child = startChild('settling-process.mjs', [folder, secret, 'batch', 'freed'], 'ulimit -S -f 150');
    const first = () => child.lines.findIndex((line) => line.startsWith('refused'));
    await expect.poll(first, { timeout: 10_000 }).toBeGreaterThan(0);
    await expect.poll(() => child.lines.at(-1), { timeout: 5000 }).toMatch(/ overloaded /);
    execSync(`exec prlimit --pid ${child.pid} --fsize=unlimited`);
    await expect.poll(() => child.lines.at(-1), { timeout: 10_000 }).toMatch(/^done /);
    await child.reach(child.lines.length + 2000);
    await child.kill();
    const ledger = await openIn(folder);
    const used = new Set(await usedIds(ledger));
    expect(named(child.lines, 'done').filter((id) => !used.has(id))).toEqual([]);
    expect(named(child.lines, 'refused').filter((id) => used.has(id))).toEqual([]);
    expect((await ledger.accounts.audit()).faults).toEqual([]);
  }, 30_000);
});

describe('processes beside a gateway', () => {
  it('8 an audit right after kill -9 finds no fault and tells what is still to be booked', async () => {
    const { folder, secret, userId } = await prepared(1e9);
    const child = startChild('settling-process.mjs', [folder, secret, 'off', 'killed']);
    await child.reach(2000);
    await child.kill();
    const accounts = await openAccounts(folder);
    const audit = await accounts.audit();
    expect(audit).toMatchObject({ ok: true, faults: [] });
    expect(audit.pending.requests).toBeGreaterThan(0);
    expect(audit.pending.quota).toBe(audit.pending.requests * 3);
    await (await openIn(folder)).close();
    const after = await accounts.audit();
    expect(after.pending).toEqual({ requests: 0, quota: 0 });
    expect(after.accounts).toMatchObject([{ userId, usage: audit.accounts[0]!.usage + audit.pending.quota }]);
    await accounts.close();
  });

  it('the journal is kept as long as a reader keeps rows out of the database file', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder, { segmentSize: 1000 });
    const { key } = await customer(ledger, 1000);
    const reader = new Database(join(folder, 'gateway.db'));
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM users').all();
    for (let index = 0; index < 20; index++) await ledger.settle(null, usageRow(key, `r${index}`, 1));
    await ledger.flush();
    expect(readdirSync(join(folder, 'journal')).length).toBeGreaterThan(2);
    reader.exec('COMMIT');
    reader.close();
    await ledger.flush();
    expect(readdirSync(join(folder, 'journal')).length).toBeLessThanOrEqual(1);
  });

  it('two that credit while a gateway settles: all is counted, and the gateway notices', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key, secret, userId } = await customer(ledger, 100_000);
    const children = ['a', 'b'].map((name) =>
      startChild('crediting-process.mjs', [folder, String(userId), '400', name]),
    );
    const codes = Promise.all(children.map((child) => child.ended));
    let running = true;
    void codes.then(() => {
      running = false;
    });
    let settled = 0;
    while (running) {
      await ledger.settle(ledger.hold(key, 1), usageRow(key, `r${settled++}`, 1));
    }
    expect(await codes).toEqual([0, 0]);
    await ledger.flush();
    expect((await ledger.accounts.audit()).accounts).toMatchObject([
      { credits: 100_800, usage: settled, balance: 100_800 - settled, difference: 0 },
    ]);
    await expect
      .poll(async () => (await keyOf(ledger, secret)).account.available, { timeout: 2000 })
      .toBe(100_800 - settled);
  });

  it('5 a key that another process makes or revokes is known within a second', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { userId } = await customer(ledger, 100);
    const accounts = await openAccounts(folder);
    const { secret, key } = await accounts.createKey({ userId, name: 'later', group: 'vip', models: ['m'] });
    await expect.poll(() => keyOf(ledger, secret).catch(() => null), { timeout: 1000 }).toMatchObject({ group: 'vip' });
    const record = await keyOf(ledger, secret);
    await accounts.revokeKey(key.prefix);
    await expect.poll(async () => (await keyOf(ledger, secret)).disabled, { timeout: 1000 }).toBe(true);
    expect(await keyOf(ledger, secret)).toBe(record);
    await accounts.close();
  });

  it('5 a key that was asked for in vain is known as soon as another process has stored it', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { userId } = await customer(ledger, 100);
    expect(await ledger.findKey('later')).toBeNull();
    const other = new Database(join(folder, 'gateway.db'));
    other.exec(`INSERT INTO keys (user_id, name, hash, prefix, group_name, created_at)
      VALUES (${userId}, 'n', 'later', 'p', 'default', 1)`);
    other.close();
    await expect.poll(() => ledger.findKey('later'), { timeout: 1000 }).toMatchObject({ userId });
  });

  it('a second gateway on the same folder is refused with the process that has it', async () => {
    const { folder, secret } = await prepared(100);
    const child = startChild('settling-process.mjs', [folder, secret, 'off', 'first']);
    await child.reach(10);
    await expect(openIn(folder)).rejects.toThrow(/Another gateway \(process \d+\) uses the data folder/);
    await child.kill();
    const ledger = await openIn(folder);
    await expect(openIn(folder)).rejects.toThrow(`process ${process.pid}`);
    await ledger.close();
    await (await openIn(folder)).close();
  });

  it('while another process writes for long, requests are settled and charged when it has ended', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key, secret } = await customer(ledger, 1000);
    const other = new Database(join(folder, 'gateway.db'));
    other.exec('BEGIN IMMEDIATE');
    await ledger.settle(ledger.hold(key, 10), usageRow(key, 'r1', 10));
    const credit = ledger.accounts.credit(key.userId, 5, 'meanwhile');
    await new Promise((resolve) => setTimeout(resolve, 600));
    await ledger.settle(ledger.hold(key, 10), usageRow(key, 'r2', 10));
    expect(key.account.available).toBe(980);
    expect(await keyOf(ledger, secret)).toBe(key);
    other.exec('ROLLBACK');
    other.close();
    expect(await credit).toMatchObject({ booked: true });
    await ledger.flush();
    expect((await keyOf(ledger, secret)).account.available).toBe(985);
    expect((await ledger.accounts.audit()).ok).toBe(true);
  });

  it('an audit beside a gateway does not count what is not applied yet as a fault', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key } = await customer(ledger, 1000);
    const accounts = await openAccounts(folder);
    await Promise.all(Array.from({ length: 40 }, (_, index) => ledger.settle(null, usageRow(key, `r${index}`, 5))));
    expect((await accounts.audit()).faults).toEqual([]);
    await ledger.flush();
    expect((await accounts.audit()).accounts[0]).toMatchObject({ usage: 200, balance: 800 });
    await accounts.close();
  });
});
