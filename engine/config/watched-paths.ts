import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** The first symbolic link on the way to `path` with the path that it leads to; null where there is none. */
function firstLink(path: string): { readonly link: string; readonly target: string } | null {
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  for (let length = 1; length <= parts.length; length++) {
    const link = join(root, ...parts.slice(0, length));
    if (isLink(link)) return { link, target: join(resolve(dirname(link), readlinkSync(link)), relative(link, path)) };
  }
  return null;
}

/** As many links as the system itself would follow. */
const mostLinks = 40;

/** The file, and every symbolic link on the way to it with what it leads to. */
function* wayTo(file: string): Generator<string> {
  let path = resolve(file);
  yield path;
  for (let count = 0; count < mostLinks; count++) {
    const found = firstLink(path);
    if (found === null) return;
    path = found.target;
    yield found.link;
    yield path;
  }
}

export interface WatchedPaths {
  /** Where a change is a change of these files, or of the way to them. */
  readonly paths: ReadonlySet<string>;
  /** The folders that hold these paths. */
  readonly folders: readonly string[];
}

/**
 * What to watch for a change of these files. A rename over a file ends a watch of the file itself, a config map is
 * changed by swapping a link above it, and a whole folder may be replaced by another one.
 */
export function watchedPaths(files: readonly string[]): WatchedPaths {
  const paths = new Set(files.flatMap((file) => [...wayTo(file)]).flatMap((path) => [path, dirname(path)]));
  return { paths, folders: [...new Set([...paths].map((path) => dirname(path)))] };
}
