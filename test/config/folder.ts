/** A throw-away folder with the configuration of test/config/base, and ways to change it as editors do. */
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const baseFolder = join(import.meta.dirname, 'base');

export interface Folder {
  readonly path: string;
  /** Writes a file in place. */
  write(name: string, text: string): void;
  /** Writes beside the file and renames over it. */
  replace(name: string, text: string): void;
  /** The file with one text replaced; throws where the text is not in it. */
  edit(name: string, find: string, by: string): void;
}

export function createFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'configuration-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  cpSync(baseFolder, path, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(path, name), text);
  const replace = (name: string, text: string): void => {
    write(`${name}.new`, text);
    renameSync(join(path, `${name}.new`), join(path, name));
  };
  const edit = (name: string, find: string, by: string): void => {
    const text = readFileSync(join(path, name), 'utf8');
    if (!text.includes(find)) throw new Error(`${name} does not contain ${find}`);
    replace(
      name,
      text.replace(find, () => by),
    );
  };
  return { path, write, replace, edit };
}
