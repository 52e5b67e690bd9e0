/** Makes a folder of the data directory, and those above it, where they are missing. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Not `mkdir` with `recursive`: that never ends where a folder takes none (`/proc`). Throws the system's error. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o750 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o750 }).catch((second: unknown) => {
      if (codeOf(second) !== 'EEXIST') throw second;
    });
  }
}
