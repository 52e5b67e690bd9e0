import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hashKey, isWellFormedKey, openAccounts } from '../../engine/ledger/index.ts';
import { displayPrefix } from '../../engine/ledger/key.ts';
import { customer, keyOf, newFolder, openIn, usageRow } from './open-folder.ts';

describe('keys', () => {
  it('5 a key is sk- and 48 base62 characters, and only its SHA-256 is stored', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { secret } = await customer(ledger, 1);
    expect(secret).toMatch(/^sk-[0-9A-Za-z]{48}$/);
    expect(isWellFormedKey(secret)).toBe(true);
    const rows = new Database(join(folder, 'gateway.db')).prepare('SELECT * FROM keys').all();
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).toContain(hashKey(secret));
  });

  it('5 no character of a key is likelier than another', async () => {
    const { createSecret } = await import('../../engine/ledger/key.ts');
    const counts = new Map<string, number>();
    for (let index = 0; index < 4000; index++) {
      for (const letter of createSecret().slice(3)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    const expected = (4000 * 48) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(counts.size).toBe(62);
    // 61 degrees of freedom: above 140 comes once in 10^7 runs; a plain modulo of bytes gives more than 900.
    expect(chiSquare).toBeLessThan(140);
  });

  it.each([
    '',
    'sk-',
    'sk-short',
    `sk-${'a'.repeat(47)}`,
    `sk-${'a'.repeat(49)}`,
    `sk-${'a'.repeat(47)}-`,
    `SK-${'a'.repeat(48)}`,
  ])('5 %j is not well formed', (text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  it('5 carries allowlist, group, quota, expiry and limits', async () => {
    const ledger = await openIn(await newFolder());
    const limits = { requestsPerMinute: 60 };
    const { key, secret, userId } = await customer(ledger, 1, {
      group: 'vip',
      models: ['a', 'b'],
      quota: 5,
      expiresAt: 99,
      limits,
    });
    expect(key).toMatchObject({ group: 'vip', quotaLeft: 5, expiresAt: 99, disabled: false, userId });
    expect([...key.models!]).toEqual(['a', 'b']);
    expect(key.limits).toEqual({ requestsPerMinute: 60, tokensPerMinute: null, concurrency: null });
    expect(await ledger.accounts.listKeys(userId)).toMatchObject([
      { prefix: displayPrefix(secret), models: ['a', 'b'], quota: 5, quotaLeft: 5, limits: key.limits },
    ]);
    expect(await ledger.accounts.listKeys(userId + 1)).toEqual([]);
  });

  it('5 the same record answers at once while nothing has changed', async () => {
    const ledger = await openIn(await newFolder());
    const { key, secret } = await customer(ledger, 1);
    expect(ledger.findKey(hashKey(secret))).toBe(key);
    expect(await ledger.findKey(hashKey('sk-unknown'))).toBeNull();
    expect(ledger.findKey(hashKey('sk-unknown'))).toBeNull();
  });

  it.each(['id', 'prefix', 'secret'] as const)('5 a key is revoked by its %s', async (by) => {
    const ledger = await openIn(await newFolder());
    const { key, secret } = await customer(ledger, 1);
    const name = { id: String(key.id), prefix: displayPrefix(secret), secret }[by];
    expect(await ledger.accounts.revokeKey(name)).toMatchObject({ id: key.id, disabled: true });
    expect((await keyOf(ledger, secret)).disabled).toBe(true);
    await expect(ledger.accounts.revokeKey('sk-none...none')).rejects.toThrow('no such key');
  });

  it('5 a disabled account shows on its keys', async () => {
    const ledger = await openIn(await newFolder());
    const { secret, userId } = await customer(ledger, 1);
    await ledger.accounts.disableUser(userId, true);
    expect((await keyOf(ledger, secret)).account.disabled).toBe(true);
  });

  it.each([
    [{ name: '' }, 'key name'],
    [{ group: '' }, 'group'],
    [{ models: [''] }, 'model name'],
    [{ quota: -1 }, 'quota'],
    [{ quota: 0.5 }, 'quota'],
    [{ expiresAt: Number.NaN }, 'expiry'],
    [{ limits: { concurrency: 0 } }, 'concurrency'],
    [{ limits: { perMinute: 3 } as object }, 'perMinute'],
    [{ userId: 77 }, 'no user 77'],
  ])('a key with %j is refused', async (change, words) => {
    const ledger = await openIn(await newFolder());
    const { userId } = await customer(ledger, 1);
    await expect(ledger.accounts.createKey({ userId, name: 'n', group: 'g', ...change })).rejects.toThrow(words);
  });
});

describe('users and credits', () => {
  it('8 a credit reaches an account that a running request holds, from this process and from another', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key, userId } = await customer(ledger, 100);
    const hold = ledger.hold(key, 100);
    expect(ledger.hold(key, 1)).toBeNull();
    await ledger.accounts.credit(userId, 7, 'top-up');
    await expect.poll(() => key.account.available, { timeout: 1000 }).toBe(7);
    const accounts = await openAccounts(folder);
    await accounts.credit(userId, 20, 'top-up');
    await accounts.credit(userId, -4, 'correction');
    await accounts.close();
    await expect.poll(() => key.account.available, { timeout: 1000 }).toBe(23);
    await ledger.settle(hold, usageRow(key, 'r1', 50));
    await ledger.flush();
    expect(key.account.available).toBe(73);
    expect((await ledger.accounts.audit()).faults).toEqual([]);
  });

  it('finds users by name and number, lists them, and refuses a name twice', async () => {
    const accounts = await openAccounts(await newFolder());
    const ada = await accounts.createUser({ name: ' ada ', email: 'ada@example.org' });
    expect(ada).toMatchObject({ name: 'ada', email: 'ada@example.org', balance: 0, disabled: false });
    expect(await accounts.findUser('ada')).toEqual(ada);
    expect(await accounts.findUser(ada.id)).toEqual(ada);
    expect(await accounts.findUser(String(ada.id))).toEqual(ada);
    expect(await accounts.findUser('nobody')).toBeNull();
    expect(await accounts.listUsers()).toEqual([ada]);
    await expect(accounts.createUser({ name: 'ada' })).rejects.toThrow('named ada already');
    for (const name of ['', ' ', '12', 'x'.repeat(201)])
      await expect(accounts.createUser({ name })).rejects.toThrow('name');
    await accounts.close();
  });

  it('8 a balance that could not be counted exactly is refused', async () => {
    const ledger = await openIn(await newFolder());
    const { id } = await ledger.accounts.createUser({ name: 'rich' });
    for (let count = 1; count <= 9; count++) await ledger.accounts.credit(id, 1e15, 'top-up');
    await expect(ledger.accounts.credit(id, 1e15, 'top-up')).rejects.toThrow('larger than can be counted');
    expect(await ledger.accounts.findUser('rich')).toMatchObject({ balance: 9e15 });
    expect(await ledger.accounts.audit()).toMatchObject({ ok: true });
  });

  it('a credit with a reference counts once', async () => {
    const accounts = await openAccounts(await newFolder());
    const { id } = await accounts.createUser({ name: 'ada' });
    expect(await accounts.credit(id, 500, 'top-up', 'order-1')).toEqual({ balance: 500, booked: true });
    expect(await accounts.credit(id, 500, 'top-up', 'order-1')).toEqual({ balance: 500, booked: false });
    await expect(accounts.credit(id, 400, 'top-up', 'order-1')).rejects.toThrow('another credit');
    expect(await accounts.credit(id, -100, 'correction')).toEqual({ balance: 400, booked: true });
    await expect(accounts.credit(99, 1, 'x')).rejects.toThrow('no user 99');
    for (const amount of [0, 0.5, Number.NaN, 1e16])
      await expect(accounts.credit(id, amount, 'x')).rejects.toThrow('credit');
    expect(await accounts.audit()).toMatchObject({ ok: true, accounts: [{ credits: 400, balance: 400 }] });
    await accounts.close();
  });

  it('the audit names what does not add up', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key, userId } = await customer(ledger, 100, { quota: 50 });
    await ledger.settle(null, usageRow(key, 'r1', 10));
    await ledger.settle(null, usageRow({ ...key, id: 9, userId: 99 }, 'r2', 3));
    await ledger.flush();
    const database = new Database(join(folder, 'gateway.db'));
    database.exec('UPDATE users SET balance = balance + 1; UPDATE keys SET quota_left = 49');
    database.close();
    const audit = await ledger.accounts.audit();
    expect(audit.ok).toBe(false);
    expect(audit.accounts).toMatchObject([{ userId, balance: 91, credits: 100, usage: 10, difference: 1 }]);
    expect(audit.faults).toEqual([
      expect.stringContaining('a difference of 1'),
      expect.stringContaining('user 99, who does not exist'),
      expect.stringContaining('49 units left of 50, but used 10'),
    ]);
  });

  it('several processes may open a new folder at once', async () => {
    const folder = await newFolder();
    const all = await Promise.all([1, 2, 3].map(() => openAccounts(join(folder, 'new'))));
    expect(await all[2]!.listUsers()).toEqual([]);
    await Promise.all(all.map((accounts) => accounts.close()));
    expect(existsSync(join(folder, 'new', 'gateway.db'))).toBe(true);
  });

  it('a database of a newer version is refused with a sentence', async () => {
    const folder = await newFolder();
    await (await openAccounts(folder)).close();
    const database = new Database(join(folder, 'gateway.db'));
    database.exec(`INSERT INTO kysely_migration VALUES ('9999-future', '2030-01-01')`);
    database.close();
    await expect(openAccounts(folder)).rejects.toThrow('cannot be brought up to date by this version of the gateway');
  });

  it('a file that is no database is refused with its path, and the folder is let go', async () => {
    const folder = await newFolder();
    writeFileSync(join(folder, 'gateway.db'), 'x'.repeat(5000));
    await expect(openIn(folder)).rejects.toThrow(`The database ${join(folder, 'gateway.db')} cannot be opened`);
    rmSync(join(folder, 'gateway.db'));
    await (await openIn(folder)).close();
  });
});

describe('usage log', () => {
  it('8 shows every column to whoever opens the file with SQLite', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key } = await customer(ledger, 100);
    const row = usageRow(key, 'r1', 7, { attempts: 2, code: 'overloaded', firstByteMs: 3.5, model: 'größer "x"' });
    await ledger.settle(null, row);
    await ledger.flush();
    const file = new Database(join(folder, 'gateway.db'));
    onTestFinished(() => void file.close());
    const shown = file.prepare('SELECT * FROM usage').all() as Record<string, unknown>[];
    expect(shown).toEqual([
      Object.fromEntries(
        Object.entries({ ...row, group: undefined, groupName: row.group })
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
      ),
    ]);
    expect(await ledger.accounts.usage({ limit: 1, model: 'größer "x"' })).toEqual([row]);
  });

  it('8 texts that no file can hold are mended: half a character, NUL, a cut through an emoji', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 100);
    const change = { code: 'a\ud800b', channel: 'a\0b', model: `${'x'.repeat(299)}\u{1f600}`, group: '\u001f\\u0000' };
    await ledger.settle(null, usageRow(key, 'r1', 1, change));
    await ledger.flush();
    expect(await ledger.accounts.usage({ limit: 1 })).toMatchObject([
      { code: 'a\ufffdb', channel: 'a\ufffdb', model: `${'x'.repeat(299)}\ufffd`, group: '\u001f\\u0000' },
    ]);
  });

  it('8 is filtered and paged, newest first', async () => {
    const ledger = await openIn(await newFolder());
    const ada = await customer(ledger, 100);
    const bob = await customer(ledger, 100);
    for (const [index, { key }] of [ada, bob, ada, ada].entries()) {
      await ledger.settle(
        null,
        usageRow(key, `r${index}`, 1, { time: 1000 + 10 * Math.floor(index / 2), model: `m${index}` }),
      );
    }
    await ledger.flush();
    const ids = async (filter: object) =>
      (await ledger.accounts.usage({ limit: 10, ...filter })).map((row) => row.requestId);
    expect(await ids({})).toEqual(['r3', 'r2', 'r1', 'r0']);
    expect(await ids({ limit: 2 })).toEqual(['r3', 'r2']);
    expect(await ids({ limit: 2, before: 'r3' })).toEqual(['r2', 'r1']);
    expect(await ids({ userId: ada.userId })).toEqual(['r3', 'r2', 'r0']);
    expect(await ids({ keyId: bob.key.id })).toEqual(['r1']);
    expect(await ids({ model: 'm2' })).toEqual(['r2']);
    expect(await ids({ from: 1010 })).toEqual(['r3', 'r2']);
    expect(await ids({ to: 1010 })).toEqual(['r1', 'r0']);
    await expect(ids({ limit: 0 })).rejects.toThrow('limit');
    await expect(ids({ before: 'nothing' })).rejects.toThrow('nothing');
  });
});
