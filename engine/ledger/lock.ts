/** One gateway per data folder: two would each hold quota that the other has given away. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFile } from './sqlite.ts';

/** Answers what ends the lock; it also ends with the process. Throws where another gateway has the folder. */
export async function lockFolder(folder: string): Promise<() => void> {
  const release = lockFile(join(folder, 'gateway.lock'));
  const owner = join(folder, 'gateway.pid');
  if (release === null) {
    const process = await readFile(owner, 'utf8').catch(() => 'unknown');
    throw new Error(
      `Another gateway (process ${process.trim()}) uses the data folder ${folder}. Stop it, or give this one another folder.`,
    );
  }
  try {
    await writeFile(owner, `${process.pid}\n`);
  } catch (error) {
    release();
    throw error;
  }
  return release;
}
