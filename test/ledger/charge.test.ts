import { describe, expect, it } from 'vitest';
import { crashOf, customer, keyOf, newFolder, openIn, usageRow } from './open-folder.ts';

describe('hold and settle', () => {
  it('8 a settled request is in the usage log once, and the audit holds', async () => {
    const ledger = await openIn(await newFolder());
    const { key, userId } = await customer(ledger, 1000);
    const hold = ledger.hold(key, 300);
    expect(key.account.available).toBe(700);
    const row = usageRow(key, 'r1', 120);
    await ledger.settle(hold, row);
    expect(key.account.available).toBe(880);
    await ledger.flush();
    expect(key.account.available).toBe(880);
    expect(await ledger.accounts.usage({ limit: 10 })).toEqual([row]);
    expect(await ledger.accounts.audit()).toEqual({
      ok: true,
      faults: [],
      accounts: [{ userId, name: expect.any(String), balance: 880, credits: 1000, usage: 120, difference: 0 }],
      pending: { requests: 0, quota: 0 },
    });
  });

  it('refuses a hold that balance minus holds does not cover', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 100);
    expect(ledger.hold(key, 60)).not.toBeNull();
    expect(ledger.hold(key, 41)).toBeNull();
    expect(ledger.hold(key, 40)).not.toBeNull();
    expect(ledger.hold(key, 1)).toBeNull();
    expect(ledger.hold(key, 0)).not.toBeNull();
  });

  it('5 refuses a hold that the key’s own quota minus its holds does not cover', async () => {
    const ledger = await openIn(await newFolder());
    const { key, secret } = await customer(ledger, 1000, { quota: 100 });
    const hold = ledger.hold(key, 80);
    expect(ledger.hold(key, 21)).toBeNull();
    await ledger.settle(hold, usageRow(key, 'r1', 50));
    expect(key.quotaLeft).toBe(50);
    await ledger.flush();
    expect((await keyOf(ledger, secret)).quotaLeft).toBe(50);
    expect(ledger.hold(key, 51)).toBeNull();
    expect((await ledger.accounts.listKeys())[0]).toMatchObject({ quota: 100, quotaLeft: 50 });
    expect((await ledger.accounts.audit()).ok).toBe(true);
  });

  it('an actual amount above the hold overdraws, and nothing more is held', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 100);
    await ledger.settle(ledger.hold(key, 100), usageRow(key, 'r1', 150));
    expect(key.account.available).toBe(-50);
    expect(ledger.hold(key, 1)).toBeNull();
    expect(ledger.hold(key, 0)).toBeNull();
  });

  it('a second settle of one hold throws and charges nothing', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 100);
    const hold = ledger.hold(key, 10);
    await ledger.settle(hold, usageRow(key, 'r1', 10));
    expect(() => ledger.settle(hold, usageRow(key, 'r2', 10))).toThrow('settled already');
    expect(key.account.available).toBe(90);
  });

  it('refuses amounts that are no whole numbers, and rows that the database would refuse later', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 100);
    for (const amount of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => ledger.hold(key, amount)).toThrow(RangeError);
    const hold = ledger.hold(key, 10);
    expect(() => ledger.settle(hold, usageRow(key, 'r1', 0.1))).toThrow('quota');
    expect(() => ledger.settle(hold, usageRow(key, 'r1', -1))).toThrow('quota');
    expect(() => ledger.settle(hold, usageRow(key, 'r1', 1, { durationMs: Number.NaN }))).toThrow('durationMs');
    expect(() => ledger.settle(hold, usageRow(key, 'r1', 1, { keyId: key.id + 1 }))).toThrow('another key');
    expect(key.account.available).toBe(90);
    await ledger.settle(hold, usageRow(key, 'r1', 1));
    expect(key.account.available).toBe(99);
  });

  it('the same request id is charged once', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 100);
    await Promise.all([
      ledger.settle(null, usageRow(key, 'r1', 10)),
      ledger.settle(null, usageRow(key, 'r1', 10)),
      ledger.settle(null, usageRow(key, 'r2', 5)),
    ]);
    await ledger.flush();
    await ledger.settle(null, usageRow(key, 'r1', 10));
    await ledger.flush();
    expect(key.account.available).toBe(85);
    expect(await ledger.accounts.audit()).toMatchObject({ ok: true });
  });

  it('a charge survives a crash between the journal and the database, and a second replay', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key, secret } = await customer(ledger, 1000);
    const rows = Array.from({ length: 70 }, (_, index) => usageRow(key, `r${index}`, 3));
    await Promise.all(rows.map((row) => ledger.settle(null, row)));
    const crashed = await crashOf(folder);
    const again = await openIn(crashed);
    expect((await keyOf(again, secret)).account.available).toBe(1000 - 210);
    expect(await again.accounts.usage({ limit: 1000 })).toHaveLength(70);
    expect((await again.accounts.audit()).ok).toBe(true);
  });

  it('many rows of many customers are applied once each', async () => {
    const ledger = await openIn(await newFolder(), { segmentSize: 20_000 });
    const customers = await Promise.all(Array.from({ length: 7 }, () => customer(ledger, 10_000)));
    for (let index = 0; index < 2000; index++) {
      const { key } = customers[index % 7]!;
      void ledger.settle(ledger.hold(key, 5), usageRow(key, `r${index}`, 2)).catch(expect.fail);
      if (index % 90 === 0) await new Promise(setImmediate);
    }
    await ledger.flush();
    const audit = await ledger.accounts.audit();
    expect(audit.faults).toEqual([]);
    expect(audit.accounts.reduce((sum, account) => sum + account.usage, 0)).toBe(4000);
    for (const { key, userId } of customers) {
      expect(key.account.available).toBe(audit.accounts.find((account) => account.userId === userId)!.balance);
    }
  });
});
