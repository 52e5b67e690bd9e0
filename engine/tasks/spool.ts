/**
 * A vendor's file on its way into the object store waits on the local disk: its length and type are known before the
 * store is asked, a slow vendor holds up no upload, and nothing of it is held in memory.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer } from '../upstream/answer.ts';
import { headerValue } from '../upstream/headers.ts';
import { sniffedBytes, sniffVideo } from './video-type.ts';
import { isWholeMp4 } from './whole-mp4.ts';

export interface SpooledFile {
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly contentType: string;
}

/** Makes the folder empty: what a crash left there belongs to nobody. */
export async function openSpool(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o750 });
}

/**
 * Writes an answer's body to a file of its own; the caller removes it. Throws where it is no video, longer than
 * `maximumBytes`, or of another length than was announced; then no file is left.
 */
export async function spool(answer: Answer, folder: string, maximumBytes: number): Promise<SpooledFile> {
  const path = join(folder, randomBytes(16).toString('hex'));
  try {
    const received = await write(answer, path, maximumBytes);
    if (received.contentType !== 'video/webm' && !(await isWholeMp4(path, received.bytes)))
      throw new Error('the vendor’s file is cut off');
    return { path, ...received };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    answer.abort();
  }
}

async function write(answer: Answer, path: string, maximumBytes: number) {
  const file = await open(path, 'wx', 0o640);
  try {
    return await receive(answer, file, maximumBytes);
  } finally {
    await file.close();
  }
}

async function receive(answer: Answer, file: FileHandle, maximumBytes: number) {
  const announced = announcedLength(answer);
  if (announced !== null && announced > maximumBytes) throw tooLong(maximumBytes);
  const hash = createHash('sha256');
  let head = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > maximumBytes) throw tooLong(maximumBytes);
    if (head.length < sniffedBytes) head = Buffer.concat([head, chunk.subarray(0, sniffedBytes)]);
    hash.update(chunk);
    await writeAll(file, chunk);
  }
  if (announced !== null && announced !== bytes) throw new Error(`${announced} bytes were announced and ${bytes} came`);
  const contentType = sniffVideo(head);
  if (contentType === null) throw new Error('the vendor’s file is no MP4, QuickTime or WebM video');
  return { bytes, sha256: hash.digest('hex'), contentType };
}

const tooLong = (maximum: number) => new Error(`the vendor’s file is longer than ${maximum} bytes`);

function announcedLength({ headers }: Answer): number | null {
  const text = headerValue(headers, 'content-length');
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, written);
    written += bytesWritten;
  }
}
