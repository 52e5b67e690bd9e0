/** What a crash left in the journal goes into the database before the first request is served. */
import { unlink } from 'node:fs/promises';
import type { Log } from '../contract/values.ts';
import type { Apply } from './apply.ts';
import { listSegments, readSegment, type SegmentFile, setAside } from './segments.ts';
import { patiently } from './serial.ts';

const batchSize = 256;

export interface ReplayOptions {
  readonly folder: string;
  readonly apply: Apply;
  readonly checkpoint: () => Promise<boolean>;
  readonly log: Log;
}

/** Applies every segment and removes it. Answers the number for the next segment. */
export async function replayJournal(options: ReplayOptions): Promise<number> {
  const segments = await listSegments(options.folder);
  for (const segment of segments) await replaySegment(options, segment);
  if (segments.length > 0 && (await options.checkpoint())) {
    for (const segment of await listSegments(options.folder)) await unlink(segment.path);
  }
  return (segments.at(-1)?.number ?? 0) + 1;
}

async function replaySegment(options: ReplayOptions, segment: SegmentFile): Promise<void> {
  const { charges, damaged, lines } = await readSegment(segment.path);
  for (let from = 0; from < charges.length; from += batchSize) {
    await patiently(() => options.apply(charges.slice(from, from + batchSize)));
  }
  if (charges.length > 0) options.log.info({ path: segment.path, rows: charges.length }, 'journal replayed');
  if (damaged.length === 0) return;
  if (damaged.length === 1 && damaged[0] === lines) {
    options.log.warn({ path: segment.path }, 'the last line of the journal was torn; no reply had been sent for it');
    return;
  }
  const kept = await setAside(segment);
  options.log.error(
    { path: kept, lines: damaged.slice(0, 20) },
    'lines of the journal are damaged and were not charged',
  );
}
