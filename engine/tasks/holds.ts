/** The holds of open tasks, which outlive the requests that took them. */
import type { Hold, Ledger } from '../contract/ports.ts';
import type { UsageRow } from '../contract/usage.ts';
import type { OpenLedger } from '../ledger/index.ts';

type HoldingLedger = Pick<Ledger, 'settle'> & Pick<OpenLedger, 'resume' | 'tasks'>;

export class TaskHolds {
  private readonly ledger: HoldingLedger;
  private readonly byTask = new Map<string, Hold>();

  constructor(ledger: HoldingLedger) {
    this.ledger = ledger;
  }

  /** Takes the holds of all open tasks again; to be called before the first request is served. */
  async restore(): Promise<void> {
    for (const { id, held, ...owner } of await this.ledger.tasks.open())
      if (held !== null) this.byTask.set(id, this.ledger.resume(owner, held));
  }

  keep(taskId: string, hold: Hold): void {
    this.byTask.set(taskId, hold);
  }

  /** The request keeps its hold after all. */
  drop(taskId: string): void {
    this.byTask.delete(taskId);
  }

  /** A task of a gateway that died may have no hold here. Rejects where the journal cannot be written; then it is still held. */
  async settle(taskId: string, row: UsageRow): Promise<void> {
    const hold = this.byTask.get(taskId) ?? null;
    this.byTask.delete(taskId);
    try {
      await this.ledger.settle(hold, row);
    } catch (error) {
      if (hold !== null) this.byTask.set(taskId, this.ledger.resume(row, hold.amount));
      throw error;
    }
  }
}
