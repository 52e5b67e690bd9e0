/** Carries journaled entries into the database, in small batches, and has the segments retired. */
import type { Log } from '../contract/values.ts';
import type { Applied, Apply } from './apply.ts';
import type { Segment } from './journal.ts';
import type { StoredKeyRecord } from './records.ts';
import type { Retirement } from './retirement.ts';
import { patiently, type Serial } from './serial.ts';
import type { Charge } from './usage-columns.ts';

/** One settled request on its way into the database. Its key record cannot be forgotten before it arrives there. */
export interface Entry extends Charge {
  readonly key: StoredKeyRecord;
}

export interface ApplierOptions {
  readonly apply: Apply;
  /** The same queue that keys are loaded in, so that no balance is read between a commit and its entry in memory. */
  readonly serial: Serial;
  readonly onApplied: (applied: Applied) => void;
  readonly retirement: Retirement;
  readonly log: Log;
}

const batchSize = 512;
/** ms during which entries gather: a fuller batch costs less per row. */
const gathering = 150;
const firstRetry = 250;
const lastRetry = 5_000;

/** Entries of one write, of which `applied` are in the database. */
interface Written {
  readonly entries: readonly Entry[];
  readonly segment: Segment;
  applied: number;
}

export class Applier {
  readonly #options: ApplierOptions;
  #queue: Written[] = [];
  #waiting = 0;
  #running: Promise<void> | null = null;
  #stopped = false;
  /** Ends the pause, if there is one; `#gathering` while more entries are a reason to. */
  #wake = () => {};
  #gathering = false;

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  add(entries: readonly Entry[], segment: Segment): void {
    this.#queue.push({ entries, segment, applied: 0 });
    this.#waiting += entries.length;
    this.#running ??= this.#run();
    if (this.#gathering && this.#waiting >= batchSize) this.#wake();
  }

  /** Resolves when the queue is empty and the segments are retired. Throws where the database refuses. */
  async drain(): Promise<void> {
    const { serial, retirement } = this.#options;
    while (this.#waiting > 0) await this.#applyNext();
    await serial.run(() => retirement.retire());
  }

  /** What is still queued stays in the journal. Resolves when the database is not used any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let retry = firstRetry;
    await this.#gather();
    while (this.#waiting > 0 && !this.#stopped) {
      try {
        await this.#applyNext();
        retry = firstRetry;
        await this.#options.retirement.retireWhenDue();
        if (this.#waiting > 0) await this.#gather();
      } catch (error) {
        this.#options.log.error({ err: error, waiting: this.#waiting }, 'usage rows cannot be written, will retry');
        await this.#pause(retry);
        retry = Math.min(retry * 2, lastRetry);
      }
    }
    this.#running = null;
  }

  async #gather(): Promise<void> {
    if (this.#waiting >= batchSize) return;
    this.#gathering = true;
    await this.#pause(gathering);
    this.#gathering = false;
  }

  async #pause(time: number): Promise<void> {
    if (this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, time).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #applyNext(): Promise<void> {
    return this.#options.serial.run(async () => {
      const batch = this.#nextBatch();
      if (batch.length > 0) this.#options.onApplied(await patiently(() => this.#options.apply(batch)));
      for (const entry of batch) entry.key.charge(-entry.quota);
      this.#forget(batch.length);
    });
  }

  #nextBatch(): Entry[] {
    const batch: Entry[] = [];
    for (const { entries, applied } of this.#queue) {
      for (let index = applied; index < entries.length && batch.length < batchSize; index++)
        batch.push(entries[index]!);
      if (batch.length === batchSize) break;
    }
    return batch;
  }

  /** Takes the first entries, which are in the database now, from the queue and from what their segments wait for. */
  #forget(count: number): void {
    let left = count;
    let ended = 0;
    for (const written of this.#queue) {
      const here = Math.min(left, written.entries.length - written.applied);
      written.applied += here;
      written.segment.unapplied -= here;
      left -= here;
      if (written.applied < written.entries.length) break;
      ended++;
    }
    this.#queue.splice(0, ended);
    this.#waiting -= count;
  }
}
