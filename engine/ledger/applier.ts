/** Carries journaled entries into the database, in small batches, and removes segments that are no longer needed. */
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../contract/values.ts';
import type { Applied, Values } from './apply.ts';
import type { Segment } from './journal.ts';
import type { StoredKeyRecord } from './records.ts';
import { patiently, type Serial } from './serial.ts';

/** One settled request on its way into the database. Its key record cannot be forgotten before it arrives there. */
export interface Entry {
  readonly key: StoredKeyRecord;
  readonly quota: number;
  readonly values: Values;
}

export interface ApplierOptions {
  readonly apply: (batch: readonly Values[]) => Promise<Applied>;
  /** The same queue that keys are loaded in, so that no balance is read between a commit and its entry in memory. */
  readonly serial: Serial;
  readonly onApplied: (applied: Applied) => void;
  readonly checkpoint: () => boolean;
  readonly segments: Segment[];
  readonly log: Log;
}

const batchSize = 512;
/** ms during which entries gather: a fuller batch costs less per row. */
const gathering = 150;
const firstRetry = 250;
const lastRetry = 5_000;

export class Applier {
  readonly #options: ApplierOptions;
  #queue: { entry: Entry; segment: Segment }[] = [];
  #running: Promise<void> | null = null;
  #hurry = new AbortController();
  #stopped = false;

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  add(entries: readonly Entry[], segment: Segment): void {
    for (const entry of entries) this.#queue.push({ entry, segment });
    this.#running ??= this.#run();
    if (this.#queue.length >= batchSize) this.#hurry.abort();
  }

  /** Resolves when the queue is empty. Throws where the database refuses. */
  async drain(): Promise<void> {
    while (this.#queue.length > 0) await this.#applyNext();
    await this.#retire();
  }

  /** What is still queued stays in the journal. */
  stop(): void {
    this.#stopped = true;
    this.#hurry.abort();
  }

  async #run(): Promise<void> {
    let retry = firstRetry;
    await this.#gather();
    while (this.#queue.length > 0 && !this.#stopped) {
      try {
        await this.#applyNext();
        retry = firstRetry;
        if (this.#queue.length < batchSize) await this.#retireAndGather();
      } catch (error) {
        this.#options.log.error(
          { err: error, waiting: this.#queue.length },
          'usage rows cannot be written, will retry',
        );
        await delay(retry, undefined, { ref: false });
        retry = Math.min(retry * 2, lastRetry);
      }
    }
    this.#running = null;
  }

  async #retireAndGather(): Promise<void> {
    await this.#retire();
    if (this.#queue.length > 0) await this.#gather();
  }

  async #gather(): Promise<void> {
    this.#hurry = new AbortController();
    if (this.#queue.length >= batchSize) return;
    await delay(gathering, undefined, { ref: false, signal: this.#hurry.signal }).catch(() => {
      // Aborted: a batch is full before its time.
    });
  }

  #applyNext(): Promise<void> {
    return this.#options.serial.run(async () => {
      const batch = this.#queue.slice(0, batchSize);
      if (batch.length === 0) return;
      const applied = await patiently(() => this.#options.apply(batch.map(({ entry }) => entry.values)));
      this.#queue = this.#queue.slice(batch.length);
      this.#options.onApplied(applied);
      for (const { entry, segment } of batch) {
        entry.key.charge(-entry.quota);
        segment.unapplied--;
      }
    });
  }

  /** Removes segments whose rows are all in the database file itself, not only in its write-ahead log. */
  #retire(): Promise<void> {
    const { segments, serial, checkpoint } = this.#options;
    return serial.run(async () => {
      const done = segments.filter((segment) => segment.closed && segment.unapplied === 0);
      if (done.length === 0 || !checkpoint()) return;
      for (const segment of done) {
        await rm(segment.path, { force: true });
        segments.splice(segments.indexOf(segment), 1);
      }
    });
  }
}
