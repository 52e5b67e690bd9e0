/** Where the checks of all files put what they find. */
import { type Fault, formatFault, formatPath, type Path } from './fault.ts';
import { nearest } from './nearest.ts';
import type { SourceFile } from './read.ts';

interface FaultDetails {
  readonly hint?: string | null;
  /** Points at the key instead of its value. */
  readonly at?: 'key' | 'value';
}

export interface Faults {
  readonly list: Fault[];
  /** A fault at a path of a file; the message begins with the path. */
  add(source: SourceFile, path: Path, message: string, details?: FaultDetails): void;
  /** A name at a path (or the key there) that is none of the known ones; it is told as the file writes it. */
  addUnknown(source: SourceFile, path: Path, what: string, known: Iterable<string>, details?: FaultDetails): void;
}

/** More names than these are no help. */
const mostListed = 30;

export function createFaults(): Faults {
  const list: Fault[] = [];
  const told = new Set<string>();
  const add: Faults['add'] = (source, path, message, details = {}) => {
    const place = source.locate(path, details.at ?? 'value');
    const subject = formatPath(path);
    const sentence = subject === '' ? message : `${subject}: ${message}`;
    const fault = { file: source.file, ...place, message: sentence, hint: details.hint ?? null };
    const text = formatFault(fault);
    if (told.has(text)) return;
    told.add(text);
    list.push(fault);
  };
  const addUnknown: Faults['addUnknown'] = (source, path, what, names, details = {}) => {
    const key = String(path.at(-1));
    const written = details.at === 'key' ? key : (source.written(path) ?? key);
    const word = written.replace(/^(["'])(.*)\1$/, '$2');
    const known = [...names];
    const hint = nearest(word, known);
    const list =
      hint === null && known.length > 0 && known.length <= mostListed ? `; known are ${known.join(', ')}` : '';
    add(source, path, `there is no ${what} ${word === '' ? 'without a name' : word}${list}`, { ...details, hint });
  };
  return { list, add, addUnknown };
}
