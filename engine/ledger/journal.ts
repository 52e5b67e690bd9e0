/**
 * The journal: what was charged is in a file before the reply ends. All lines of one turn of the event loop go out in
 * one write. When the device has them is a setting: with `batch` before the replies end, and the next write waits for
 * it; with `interval` some moments later; with `off` when the operating system sees fit.
 */
import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs';
import type { Log } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import { segmentPath } from './segments.ts';

/** What is known of a segment that this process has written. */
export interface Segment {
  readonly path: string;
  readonly descriptor: number;
  size: number;
  /** Entries that are not in the database yet. */
  unapplied: number;
  closed: boolean;
}

/** When charges reach the device: `off` and `interval` outlive the process, `interval` loses moments at a power cut, `batch` nothing. */
export type JournalSync = 'off' | 'interval' | 'batch';

export interface JournalOptions<Entry> {
  readonly folder: string;
  readonly sync: JournalSync;
  readonly log: Log;
  /** Bytes after which the next segment is begun. */
  readonly segmentSize: number;
  readonly firstNumber: number;
  /** The lines of these entries are in the segment. */
  readonly onWritten: (entries: readonly Entry[], segment: Segment) => void;
  /** The lines of these entries are in no segment. */
  readonly onFailed: (entries: readonly Entry[]) => void;
}

/** ms between two flushes with `interval`: the most that a power cut takes. */
const flushInterval = 100;
/** ms between two log lines about a disk that refuses. */
const quiet = 5_000;
/** What is written to find out whether a disk that refused takes a block again. */
const probe = ' '.repeat(4096);

class Batch<Entry> {
  readonly entries: Entry[] = [];
  text = '';
  readonly done: Promise<void>;
  resolve!: () => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

const notWritten = (cause: unknown) =>
  new GatewayError('internal_error', 'The request could not be booked. Nothing was charged.', { cause });

export class Journal<Entry> {
  /** Those that still have a file, oldest first. */
  readonly segments: Segment[] = [];
  readonly #options: JournalOptions<Entry>;
  #number: number;
  #current: Segment | null = null;
  #batch: Batch<Entry> | null = null;
  #writing = false;
  #closed = false;
  #failing = false;
  #probeAt = 0;
  #flushing: NodeJS.Timeout | null = null;
  #refused = 0;
  #quietUntil = 0;

  constructor(options: JournalOptions<Entry>) {
    this.#options = options;
    this.#number = options.firstNumber;
  }

  /** False while the disk refuses. After a refused write it is tried here and now. */
  writable(): boolean {
    if (this.#failing && !this.#writing && performance.now() >= this.#probeAt) this.#probe();
    return !this.#failing;
  }

  /**
   * Adds a line; the promise is shared by all of this turn and rejects with GatewayError `internal_error` where the disk
   * refuses them.
   */
  append(entry: Entry, line: string): Promise<void> {
    if (this.#closed) return Promise.reject(notWritten(new Error('The ledger is closed.')));
    const batch = this.#batch ?? this.#begin();
    batch.entries.push(entry);
    batch.text += line;
    return batch.done;
  }

  /** Resolves when everything that was appended so far is written or refused. */
  async drain(): Promise<void> {
    while (this.#batch !== null || this.#writing) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Writes what is left and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.drain();
    if (this.#flushing !== null) clearTimeout(this.#flushing);
    this.#endSegment();
  }

  #begin(): Batch<Entry> {
    const batch = new Batch<Entry>();
    this.#batch = batch;
    if (!this.#writing) setImmediate(() => this.#write());
    return batch;
  }

  /** Writes a block and takes it back. Attempts take no more than a tenth of the time. */
  #probe(): void {
    const start = performance.now();
    try {
      const segment = this.#segment();
      const { size } = segment;
      this.#writeLines(segment, probe);
      try {
        if (this.#options.sync === 'batch') fdatasyncSync(segment.descriptor);
      } finally {
        this.#cut(segment, size);
      }
      this.#recover();
    } catch (error) {
      this.#options.log.debug({ err: error }, 'the journal still cannot be written');
    }
    const end = performance.now();
    this.#probeAt = end + 9 * (end - start);
  }

  #recover(): void {
    if (this.#failing) this.#options.log.info({}, 'the journal can be written again');
    this.#failing = false;
  }

  #write(): void {
    const batch = this.#batch;
    if (batch === null) return;
    this.#batch = null;
    try {
      const segment = this.#segment();
      const before = segment.size;
      this.#writeLines(segment, batch.text);
      if (this.#options.sync === 'batch') return this.#syncThen(batch, segment, before);
      this.#succeed(batch, segment);
      if (this.#options.sync === 'interval') this.#flushSoon();
    } catch (error) {
      this.#fail(batch, error);
    }
  }

  #writeLines(segment: Segment, text: string): void {
    const bytes = Buffer.from(text);
    const before = segment.size;
    try {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(segment.descriptor, bytes, written, bytes.length - written);
        segment.size = before + written;
      }
    } catch (error) {
      this.#cut(segment, before);
      throw error;
    }
  }

  #syncThen(batch: Batch<Entry>, segment: Segment, before: number): void {
    this.#writing = true;
    fdatasync(segment.descriptor, (error) => {
      this.#writing = false;
      if (error === null) {
        this.#succeed(batch, segment);
      } else {
        this.#cut(segment, before);
        this.#endSegment();
        this.#fail(batch, error);
      }
      this.#write();
    });
  }

  /** One flush for all that is written within the interval; segments that end are flushed as they are closed. */
  #flushSoon(): void {
    this.#flushing ??= setTimeout(() => {
      this.#flushing = null;
      if (this.#current !== null) fdatasync(this.#current.descriptor, (error) => this.#flushed(error));
    }, flushInterval);
  }

  #flushed(error: Error | null): void {
    if (error !== null) this.#options.log.error({ err: error }, 'the journal could not be flushed to the device');
  }

  #succeed(batch: Batch<Entry>, segment: Segment): void {
    this.#recover();
    segment.unapplied += batch.entries.length;
    if (segment.size >= this.#options.segmentSize) this.#endSegment();
    this.#options.onWritten(batch.entries, segment);
    batch.resolve();
  }

  #fail(batch: Batch<Entry>, error: unknown): void {
    this.#options.onFailed(batch.entries);
    batch.reject(notWritten(error));
    this.#failing = true;
    this.#refused += batch.entries.length;
    if (performance.now() < this.#quietUntil) return;
    this.#quietUntil = performance.now() + quiet;
    this.#options.log.error({ err: error, rows: this.#refused }, 'the journal cannot be written');
    this.#refused = 0;
  }

  /** Takes lines back that nobody was told of. Where that fails, nothing is ever written after them. */
  #cut(segment: Segment, size: number): void {
    try {
      ftruncateSync(segment.descriptor, size);
      segment.size = size;
    } catch (error) {
      const { path } = segment;
      this.#options.log.error({ err: error, path }, 'refused lines could not be taken out of the journal');
      this.#endSegment();
    }
  }

  #segment(): Segment {
    if (this.#current !== null) return this.#current;
    const path = segmentPath(this.#options.folder, this.#number++);
    const descriptor = openSync(path, 'ax', 0o640);
    const segment = { path, descriptor, size: 0, unapplied: 0, closed: false };
    this.segments.push(segment);
    this.#current = segment;
    return segment;
  }

  #endSegment(): void {
    const segment = this.#current;
    if (segment === null) return;
    this.#current = null;
    segment.closed = true;
    try {
      if (this.#options.sync === 'interval') fdatasyncSync(segment.descriptor);
      closeSync(segment.descriptor);
      if (segment.size > 0) return;
      this.segments.splice(this.segments.indexOf(segment), 1);
      unlinkSync(segment.path);
    } catch (error) {
      this.#options.log.error({ err: error, path: segment.path }, 'a journal segment could not be ended');
    }
  }
}
