import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** The first symbolic link on the way to `path` with what it stands for; null where there is none. */
function firstLink(path: string): { readonly folder: string; readonly target: string } | null {
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  for (let length = 1; length <= parts.length; length++) {
    const link = join(root, ...parts.slice(0, length));
    if (!isLink(link)) continue;
    const folder = dirname(link);
    return { folder, target: join(resolve(folder, readlinkSync(link)), relative(link, path)) };
  }
  return null;
}

/** As many links as the system itself would follow. */
const mostLinks = 40;

/**
 * The folders to watch for a change of these files: the file's own and that of every symbolic link on the way to it. A
 * rename over a file ends a watch of the file itself, and a config map is changed by swapping a link above it.
 */
export function watchedFolders(files: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    let path = resolve(file);
    folders.add(dirname(path));
    for (let count = 0; count < mostLinks; count++) {
      const link = firstLink(path);
      if (link === null) break;
      folders.add(link.folder);
      path = link.target;
      folders.add(dirname(path));
    }
  }
  return [...folders];
}
