/** Releases among holds, settlements, crashes and replays: a hold whose request costs nothing is free again. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Hold } from '../../engine/contract/ports.ts';
import { crashOf, customer, keyOf, newFolder, openIn, usageRow } from './open-folder.ts';

const balance = 1000;
const quota = 700;

type Step =
  | { readonly do: 'hold'; readonly amount: number }
  | { readonly do: 'settle' | 'release'; readonly which: number }
  | { readonly do: 'flush' | 'crash' | 'replay' };

const which = fc.nat(9);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('hold' as const), amount: fc.integer({ min: 1, max: 250 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'crash' as const, 'replay' as const) }) },
  ),
  { minLength: 5, maxLength: 30 },
);

async function runSteps(list: readonly Step[]): Promise<void> {
  let folder = await newFolder();
  let ledger = await openIn(folder);
  const { secret } = await customer(ledger, balance, { quota });
  let key = await keyOf(ledger, secret);
  let open: { readonly hold: Hold; readonly amount: number }[] = [];
  const rows: { readonly id: string; readonly quota: number }[] = [];

  /** Holds die with the process; what was settled, and what was released, does not come again. */
  const crash = async () => {
    folder = await crashOf(folder);
    await ledger.close();
    ledger = await openIn(folder);
    key = await keyOf(ledger, secret);
    open = [];
  };
  const end = async (index: number, share: number) => {
    const [ended] = open.splice(index % Math.max(1, open.length), 1);
    if (ended === undefined) return;
    const row = { id: `r${rows.length}`, quota: Math.floor(ended.amount * share) };
    await ledger.settle(ended.hold, usageRow(key, row.id, row.quota));
    rows.push(row);
  };

  for (const step of list) {
    if (step.do === 'hold') {
      const hold = ledger.hold(key, step.amount);
      if (hold !== null) open.push({ hold, amount: step.amount });
    } else if (step.do === 'release') await end(step.which, 0);
    else if (step.do === 'settle') await end(step.which, 0.5);
    else if (step.do === 'flush') await ledger.flush();
    else if (step.do === 'crash') await crash();
    // The journal is read again by a process that starts twice on the same files.
    else for (let time = 0; time < 2; time++) await crash();

    const used = rows.reduce((sum, row) => sum + row.quota, 0);
    const held = open.reduce((sum, { amount }) => sum + amount, 0);
    expect([key.account.available, key.quotaLeft]).toEqual([balance - used - held, quota - used]);
  }

  await ledger.flush();
  const { accounts, ok } = await ledger.accounts.audit();
  expect(ok).toBe(true);
  expect(accounts).toMatchObject([{ credits: balance, usage: rows.reduce((sum, row) => sum + row.quota, 0) }]);
  const booked = await ledger.accounts.usage({ limit: 1000 });
  expect(booked.map((row) => [row.requestId, row.quota]).sort()).toEqual(rows.map((row) => [row.id, row.quota]).sort());
  await ledger.close();
}

it('8 any order of hold, release, settle, crash and replay frees what was held, and charges nothing for a release', async () => {
  await fc.assert(fc.asyncProperty(steps, runSteps), { numRuns: 25 });
}, 120_000);
