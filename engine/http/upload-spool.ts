/**
 * Where an uploaded file waits: in memory while it is small, then in a file of the data directory. The file has no name
 * from the moment it exists, so that nothing is left behind whatever becomes of the process.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../errors.ts';

const largestInMemory = 256 * 1024;
/** Enough for the head of any sound file. */
const headBytes = 4 * 1024;
const pieceBytes = 64 * 1024;
const suffix = '.upload';
/** Bytes that uploads leave on their disk: the journal of what is charged may need them. */
const leastFree = 256 * 1024 * 1024;
/** ms for which an answer about the disk is good. */
const freeFor = 100;

/** Makes the folder; throws away what a crash left between making a file and taking its name away. */
export async function openUploads(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const left = (await readdir(folder)).filter((name) => name.endsWith(suffix));
  await Promise.all(left.map((name) => unlink(join(folder, name))));
  return folder;
}

async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `${randomUUID()}${suffix}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

const freeIn = new Map<string, { readonly asked: number; readonly bytes: Promise<number> }>();

function freeBytes(folder: string): Promise<number> {
  const now = performance.now();
  const known = freeIn.get(folder);
  if (known !== undefined && now - known.asked < freeFor) return known.bytes;
  const bytes = statfs(folder).then(({ bavail, bsize }) => bavail * bsize);
  freeIn.set(folder, { asked: now, bytes });
  return bytes;
}

async function requireRoom(folder: string): Promise<void> {
  if ((await freeBytes(folder)) < leastFree)
    throw new GatewayError('overloaded', 'The gateway has no room for uploads now. Try again later.', {
      retryAfter: 5,
    });
}

export class Spool {
  length = 0;
  /** Bytes that are not on disk yet and should be. */
  pending = 0;
  /** Set when the disk failed. */
  fault: unknown = null;
  private readonly folder: string;
  private readonly hash = createHash('sha256');
  private chunks: Buffer[] = [];
  private first: Buffer = Buffer.alloc(0);
  private handle: FileHandle | null = null;
  private writing: Promise<void> | null = null;
  private written = 0;
  private closed = false;
  private readonly drained: () => void;

  /** `drained`: some of `pending` has reached the disk, or the disk has failed. */
  constructor(folder: string, drained: () => void) {
    this.folder = folder;
    this.drained = drained;
  }

  get head(): Buffer {
    return this.first;
  }

  /** Keeps the chunk, which must not change afterwards. */
  write(chunk: Buffer): void {
    if (this.closed || this.fault !== null) return;
    if (this.first.length < headBytes)
      this.first = Buffer.concat([this.first, chunk.subarray(0, headBytes - this.first.length)]);
    this.hash.update(chunk);
    this.length += chunk.length;
    this.chunks.push(chunk);
    if (this.writing === null && this.length <= largestInMemory) return;
    this.pending = this.length - this.written;
    this.writing ??= this.store();
  }

  /** Waits until everything is where it stays; rejects where the disk failed. Answers the checksum. */
  async finish(): Promise<string> {
    while (this.writing !== null) await this.writing;
    if (this.fault !== null) throw this.fault;
    return this.hash.digest('base64url');
  }

  async *read(): AsyncGenerator<Buffer> {
    if (this.handle === null) {
      yield* this.chunks;
      return;
    }
    for (let at = 0; at < this.length; ) {
      const piece = await this.readPiece(at);
      at += piece.length;
      yield piece;
    }
  }

  /** Gives memory and disk back; the file is gone when the last read that runs has ended. */
  close(): void {
    this.closed = true;
    this.chunks = [];
    const { handle } = this;
    // Whoever still reads gets an error; what a disk says while it forgets a file helps nobody.
    handle?.close().catch(() => {});
  }

  private async readPiece(at: number): Promise<Buffer> {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, this.length - at));
    try {
      const { bytesRead } = await this.handle!.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('an upload on disk is shorter than it was');
      return piece.subarray(0, bytesRead);
    } catch (error) {
      if (!this.closed) this.fault = error;
      throw error;
    }
  }

  /** Writes what has come until nothing is left. */
  private async store(): Promise<void> {
    try {
      this.handle ??= await openNameless(this.folder);
      while (this.chunks.length > 0 && !this.closed) {
        await requireRoom(this.folder);
        const chunks = this.chunks;
        this.chunks = [];
        const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        const { bytesWritten } = await this.handle.writev(chunks, this.written);
        if (bytesWritten < bytes) throw new Error(`the disk took ${bytesWritten} of ${bytes} bytes`);
        this.written += bytes;
        this.pending = this.length - this.written;
        this.drained();
      }
    } catch (error) {
      this.fault = error;
    }
    this.writing = null;
    if (this.closed) this.close();
    if (this.fault !== null) this.drained();
  }
}
