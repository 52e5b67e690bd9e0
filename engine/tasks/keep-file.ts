/** Puts a spooled file into the object store, and reads it back before anybody is told of it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { ObjectsEngine } from '../objects/engine.ts';
import { createKey } from '../objects/key.ts';
import type { SpooledFile } from './spool.ts';
import type { VideoTask } from './task.ts';

const prefix = 'videos';

/** Day and digits are the task's own: whoever stores its file again replaces what is there. */
export const objectKeyOf = ({ id, createdAt }: VideoTask, contentType: string): string =>
  createKey(prefix, contentType, new Date(createdAt), id.slice(-32));

/** Throws where it cannot be stored or differs. */
export async function keepFile(objects: ObjectsEngine, key: string, file: SpooledFile): Promise<void> {
  const { path, bytes: length, contentType } = file;
  await objects.put({ body: createReadStream(path), length, contentType, prefix, key });
  await verify(objects, key, file);
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
