/** The journal's files: `journal/00000001.jsonl` and on. A file is only ever appended to by the process that made it. */
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeLine } from './journal-line.ts';
import type { Charge } from './usage-columns.ts';

const namePattern = /^(\d{8,15})\.jsonl$/;

export interface SegmentFile {
  readonly number: number;
  readonly path: string;
}

export function segmentPath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(8, '0')}.jsonl`);
}

/** The segments in the folder, oldest first. */
export async function listSegments(folder: string): Promise<SegmentFile[]> {
  const names = await readdir(folder);
  return names
    .flatMap((name) => {
      const number = namePattern.exec(name)?.[1];
      return number === undefined ? [] : [{ number: Number(number), path: join(folder, name) }];
    })
    .sort((left, right) => left.number - right.number);
}

export interface SegmentContent {
  readonly charges: readonly Charge[];
  /** Numbers of the lines, from 1, that are not whole. */
  readonly damaged: readonly number[];
  readonly lines: number;
}

/** Reads a segment; a last line that was torn by a crash is the last number in `damaged`. */
export async function readSegment(path: string): Promise<SegmentContent> {
  const charges: Charge[] = [];
  const damaged: number[] = [];
  const lines = (await readFile(path, 'utf8')).split('\n');
  if (lines.at(-1) === '') lines.pop();
  lines.forEach((line, index) => {
    const charge = decodeLine(line);
    if (charge === null) damaged.push(index + 1);
    else charges.push(charge);
  });
  return { charges, damaged, lines: lines.length };
}

/** What the segments of a folder have, one by one; a running gateway may remove each at any time. */
export async function* readPresentSegments(folder: string): AsyncGenerator<readonly Charge[]> {
  for (const { path } of await unlessMissing(listSegments(folder), [])) {
    yield (await unlessMissing(readSegment(path), { charges: [] })).charges;
  }
}

async function unlessMissing<T, Other>(reading: Promise<T>, otherwise: Other): Promise<T | Other> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** Keeps a damaged segment for whoever looks into it, under a name that is never replayed. */
export async function setAside(segment: SegmentFile): Promise<string> {
  const path = `${segment.path}.damaged`;
  await rename(segment.path, path);
  return path;
}
