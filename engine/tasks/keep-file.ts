/** Puts a spooled file into the object store, and reads it back before anybody is told of it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { ObjectsEngine } from '../objects/engine.ts';
import type { SpooledFile } from './spool.ts';

/** The key of the stored object. Throws where it cannot be stored or differs; then nothing is left of it. */
export async function keepFile(objects: ObjectsEngine, file: SpooledFile): Promise<string> {
  try {
    const { path, bytes: length, contentType } = file;
    const { key } = await objects.put({ body: createReadStream(path), length, contentType, prefix: 'videos' });
    try {
      await verify(objects, key, file);
      return key;
    } catch (error) {
      await objects.delete(key);
      throw error;
    }
  } finally {
    await rm(file.path, { force: true });
  }
}

async function verify(objects: ObjectsEngine, key: string, { bytes, sha256 }: SpooledFile): Promise<void> {
  const hash = createHash('sha256');
  let length = 0;
  for await (const chunk of await objects.read(key)) {
    hash.update(chunk as Buffer);
    length += (chunk as Buffer).length;
  }
  if (length !== bytes || hash.digest('hex') !== sha256)
    throw new Error('the stored video differs from the one that the vendor sent');
}
