/** Objects as files below one folder, under keys that are generated here. */
import { randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ObjectToStore, StoredObject } from '../contract/ports.ts';
import type { ObjectsEngine } from './engine.ts';
import { exactly } from './exact.ts';
import { storageFailed } from './fault.ts';
import { isKey, keyFor } from './key.ts';
import { mediaTypeOf } from './media-types.ts';
import { signQuery } from './url.ts';

export interface FolderOptions {
  /** Absolute path; made where it is missing. */
  readonly folder: string;
  /** Origin, and path if any, under which clients reach `/files/`; a function where it is known only later. */
  readonly publicUrl: string | (() => string);
  /** The first one signs. */
  readonly secrets: readonly string[];
  /** ms. */
  readonly urlLifetime: number;
  readonly fsync?: boolean;
}

/** Below the objects' folder, so that a rename never crosses file systems; the dot keeps it out of every key. */
const incomingName = '.incoming';
/** Younger ones may belong to another process that is still writing. */
const staleAfter = 3_600_000;

/** Opens the folder: makes it, proves that it can be written to, and removes what a crash left half-written. */
export async function openFolder(options: FolderOptions): Promise<ObjectsEngine> {
  const incoming = join(options.folder, incomingName);
  await mkdir(incoming, { recursive: true, mode: 0o750 });
  await purgeStale(incoming);
  await proveWritable(incoming);
  return {
    put: (object) => put(options, incoming, object),
    sign: async (key, lifetimeSeconds) => sign(options, key, lifetimeSeconds),
    delete: (key) => remove(options.folder, key),
    check: () => proveWritable(incoming),
    read: async (key) => openObject(options.folder, key),
    close: async () => {},
  };
}

async function put(options: FolderOptions, incoming: string, object: ObjectToStore): Promise<StoredObject> {
  const draft = join(incoming, randomBytes(16).toString('hex'));
  try {
    const key = keyFor(object);
    await writeDraft(draft, object, options.fsync ?? false);
    await moveInto(join(options.folder, key), draft, options.fsync ?? false);
    return { key, length: object.length, contentType: mediaTypeOf(key).mediaType };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {
      // The first fault is the one to report; the next start purges the draft.
    });
    throw storageFailed(error);
  } finally {
    if (!Buffer.isBuffer(object.body)) object.body.destroy();
  }
}

async function writeDraft(draft: string, object: ObjectToStore, fsync: boolean): Promise<void> {
  const file = await open(draft, 'wx', 0o640);
  try {
    for await (const chunk of exactly(object.body, object.length)) await writeAll(file, chunk);
    if (fsync) await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, written);
    written += bytesWritten;
  }
}

/** Only the first object of a day finds no folder for it. */
async function moveInto(path: string, draft: string, fsync: boolean): Promise<void> {
  try {
    await rename(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o750 });
    await rename(draft, path);
  }
  if (fsync) await syncFolder(dirname(path));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function sign(options: FolderOptions, key: string, lifetimeSeconds = options.urlLifetime / 1000): string {
  if (!isKey(key)) throw storageFailed(new TypeError(`${JSON.stringify(key)} is not the key of an object.`));
  const expires = Math.ceil(Date.now() / 1000 + lifetimeSeconds);
  const base = typeof options.publicUrl === 'string' ? options.publicUrl : options.publicUrl();
  return `${base.replace(/\/+$/, '')}/files/${key}?${signQuery(options.secrets[0]!, key, expires)}`;
}

function openObject(folder: string, key: string): Readable {
  if (!isKey(key)) throw storageFailed(new TypeError(`${JSON.stringify(key)} is not the key of an object.`));
  return createReadStream(join(folder, key));
}

async function remove(folder: string, key: string): Promise<void> {
  try {
    if (!isKey(key)) throw new TypeError(`${JSON.stringify(key)} is not the key of an object.`);
    await rm(join(folder, key), { force: true });
  } catch (error) {
    throw storageFailed(error);
  }
}

async function purgeStale(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const found = await stat(path).catch(() => null); // another process may have finished or purged it
    if (found !== null && Date.now() - found.mtimeMs > staleAfter) await rm(path, { force: true, recursive: true });
  }
}

async function proveWritable(incoming: string): Promise<void> {
  const probe = join(incoming, randomBytes(16).toString('hex'));
  const file = await open(probe, 'wx', 0o640);
  await file.close();
  await rm(probe);
}
