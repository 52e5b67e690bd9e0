import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Hold, KeyRecord } from '../../engine/contract/ports.ts';
import type { OpenLedger } from '../../engine/ledger/index.ts';
import { crashOf, customer, keyOf, newFolder, openIn, usageRow } from './open-folder.ts';

type Step =
  | { readonly do: 'hold'; readonly key: number; readonly amount: number }
  | { readonly do: 'settle'; readonly which: number; readonly quota: number }
  | { readonly do: 'again'; readonly which: number }
  | { readonly do: 'credit'; readonly amount: number }
  | { readonly do: 'flush' | 'crash' | 'close' };

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('hold' as const), key: fc.nat(1), amount: fc.nat(300) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat(9), quota: fc.nat(400) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), which: fc.nat(99) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('credit' as const), amount: fc.integer({ min: 1, max: 500 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'crash' as const, 'close' as const) }) },
  ),
  { maxLength: 40 },
);

/** What the ledger should say, in the simplest words: lists and sums. */
class Model {
  credits = 1000;
  readonly settled: { readonly id: string; readonly key: number; readonly quota: number }[] = [];
  open: { readonly hold: Hold; readonly key: number; readonly amount: number }[] = [];

  used = (key?: number) =>
    this.settled.reduce((sum, each) => sum + (key === undefined || each.key === key ? each.quota : 0), 0);
  held = (key?: number) =>
    this.open.reduce((sum, each) => sum + (key === undefined || each.key === key ? each.amount : 0), 0);
  available = () => this.credits - this.used() - this.held();
  /** Key 1 has a quota of 600 of its own. */
  covers = (key: number, amount: number) =>
    this.available() >= amount && (key === 0 || 600 - this.used(1) - this.held(1) >= amount);
}

class Run {
  readonly model = new Model();
  folder = '';
  ledger!: OpenLedger;
  keys: KeyRecord[] = [];
  secrets: string[] = [];
  userId = 0;
  private next = 0;

  async start(): Promise<this> {
    this.folder = await newFolder();
    this.ledger = await openIn(this.folder);
    const { userId, secret } = await customer(this.ledger, 1000);
    const limited = await this.ledger.accounts.createKey({ userId, name: 'limited', group: 'default', quota: 600 });
    this.userId = userId;
    this.secrets = [secret, limited.secret];
    await this.loadKeys();
    return this;
  }

  async step(step: Step): Promise<void> {
    if (step.do === 'hold') this.hold(step.key, step.amount);
    else if (step.do === 'settle') await this.settle(step.which, step.quota);
    else if (step.do === 'again') await this.settleAgain(step.which);
    else if (step.do === 'credit') await this.credit(step.amount);
    else if (step.do === 'flush') await this.ledger.flush();
    else await this.reopen(step.do);
    expect(this.keys[0]!.account.available).toBe(this.model.available());
    expect(this.keys[1]!.quotaLeft).toBe(600 - this.model.used(1));
  }

  async check(): Promise<void> {
    expect((await this.ledger.accounts.audit()).faults).toEqual([]);
    await this.ledger.flush();
    const audit = await this.ledger.accounts.audit();
    expect(audit.faults).toEqual([]);
    expect(audit.accounts).toMatchObject([{ credits: this.model.credits, usage: this.model.used() }]);
    expect((await this.ledger.accounts.usage({ limit: 1000 })).map((row) => row.requestId).sort()).toEqual(
      this.model.settled.map((each) => each.id).sort(),
    );
  }

  private hold(key: number, amount: number): void {
    const covered = this.model.covers(key, amount);
    const hold = this.ledger.hold(this.keys[key]!, amount);
    expect(hold !== null).toBe(covered);
    if (hold !== null) this.model.open.push({ hold, key, amount });
  }

  private async settle(which: number, quota: number): Promise<void> {
    const [ended] = this.model.open.splice(which % Math.max(1, this.model.open.length), 1);
    if (ended === undefined) return;
    const id = `r${this.next++}`;
    await this.ledger.settle(ended.hold, usageRow(this.keys[ended.key]!, id, quota));
    this.model.settled.push({ id, key: ended.key, quota });
    expect(() => this.ledger.settle(ended.hold, usageRow(this.keys[ended.key]!, `${id}-again`, quota))).toThrow();
  }

  /** A request id that is known already, as a replay would bring it. */
  private async settleAgain(which: number): Promise<void> {
    const known = this.model.settled[which % Math.max(1, this.model.settled.length)];
    if (known === undefined) return;
    await this.ledger.settle(null, usageRow(this.keys[known.key]!, known.id, known.quota));
    await this.ledger.flush();
  }

  private async credit(amount: number): Promise<void> {
    await this.ledger.accounts.credit(this.userId, amount, 'test');
    this.model.credits += amount;
    await this.loadKeys();
  }

  /** Holds die with the process. */
  private async reopen(how: 'crash' | 'close'): Promise<void> {
    const folder = how === 'crash' ? await crashOf(this.folder) : this.folder;
    await this.ledger.close();
    this.folder = folder;
    this.ledger = await openIn(folder);
    this.model.open = [];
    await this.loadKeys();
  }

  private async loadKeys(): Promise<void> {
    this.keys = await Promise.all(this.secrets.map((secret) => keyOf(this.ledger, secret)));
  }
}

it('8 any order of hold, settle, credit, crash and replay keeps the audit true and the available amount right', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const run = await new Run().start();
      for (const step of list) await run.step(step);
      await run.check();
      await run.ledger.close();
    }),
    { numRuns: 60 },
  );
}, 120_000);
