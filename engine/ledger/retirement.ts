/** Removes segments of the journal whose rows are all in the database file itself, not only in its write-ahead log. */
import { rm } from 'node:fs/promises';
import type { Log } from '../contract/values.ts';
import type { Segment } from './journal.ts';
import { Serial } from './serial.ts';

/**
 * Batches between two checkpoints: 16000 rows where they are full, about as many as a segment has. The write-ahead log
 * grows to 15 MB meanwhile where few users spend, and to 120 MB where thousands do.
 */
const batchesPerCheckpoint = 32;

export class Retirement {
  readonly #checkpoint: () => Promise<boolean>;
  readonly #segments: Segment[];
  readonly #log: Log;
  readonly #serial = new Serial();
  #batches = 0;

  constructor(checkpoint: () => Promise<boolean>, segments: Segment[], log: Log) {
    this.#checkpoint = checkpoint;
    this.#segments = segments;
    this.#log = log;
  }

  /** To be called after each batch. */
  async retireWhenDue(): Promise<void> {
    if (++this.#batches >= batchesPerCheckpoint) await this.retire();
  }

  /** Checkpoints where there is something to remove, or enough to move. Faults are told and tried again later. */
  retire(): Promise<void> {
    return this.#serial.run(async () => {
      const done = this.#segments.filter((segment) => segment.closed && segment.unapplied === 0);
      if (done.length === 0 && this.#batches < batchesPerCheckpoint) return;
      this.#batches = 0;
      try {
        if (!(await this.#checkpoint())) return;
        for (const segment of done) {
          await rm(segment.path, { force: true });
          this.#segments.splice(this.#segments.indexOf(segment), 1);
        }
      } catch (error) {
        this.#log.error({ err: error }, 'the journal cannot be shortened, will retry');
      }
    });
  }
}
