/** Reads one YAML file and resolves its `${…}`. The only reader of `process.env`. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseYaml, type YamlDocument } from './document.ts';
import type { Fault, Path, Place } from './fault.ts';
import { type Environment, type Lookup, substitute } from './substitute.ts';

/** A `${…}` without a value. */
export interface UnresolvedValue {
  readonly path: Path;
  readonly fault: Fault;
}

export interface SourceFile {
  /** As messages name it. */
  readonly file: string;
  readonly path: string;
  /** The file's content, `${…}` unresolved. */
  readonly text: string;
  /** Plain data, `${…}` resolved. Validation fills defaults in. */
  value: unknown;
  /** Where a value (or its key) stands; the nearest parent that exists where it does not. */
  locate(path: Path, what?: 'key' | 'value'): Place;
  /** A scalar as the file writes it, `${…}` unresolved; null where there is none. */
  written(path: Path): string | null;
  /** Whether the scalar at this path contains a `${…}`. */
  isSubstituted(path: Path): boolean;
  readonly unresolved: readonly UnresolvedValue[];
  /** Values that came from outside, so that no message ever shows them. */
  readonly secrets: readonly string[];
  /** Files that `${file:…}` named. */
  readonly included: readonly string[];
}

export type ReadResult =
  | { readonly ok: true; readonly source: SourceFile }
  | { readonly ok: false; readonly faults: Fault[] };

/** The environment of this process. */
export const processEnvironment = (): Environment => process.env;

const maximumBytes = 4 * 1_048_576;
const maximumIncluded = 65_536;
const start: Place = { line: 1, column: 1 };

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file, since a part of its path is no folder',
  EACCES: 'the file cannot be read: permission denied',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'the file is not UTF-8',
  ELOOP: 'the file is a symbolic link that leads to itself',
};

function readText(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    const status = statSync(path);
    // Reading a pipe or a device might never end.
    if (!status.isFile())
      return { problem: status.isDirectory() ? 'this is a folder, no file' : 'this is no plain file' };
    if (status.size > maximumBytes)
      return { problem: `the file has ${status.size} bytes, more than the ${maximumBytes} allowed` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return { problem: problems[code] ?? `the file cannot be read (${code})` };
  }
}

function readIncluded(path: string): { readonly text: string } | { readonly problem: string } {
  const found = readText(path);
  if ('problem' in found) return { problem: `${path}: ${found.problem}` };
  if (found.text.length > maximumIncluded) return { problem: `${path}: more than ${maximumIncluded} characters` };
  return { text: found.text.replace(/\r?\n$/, '') };
}

interface Resolution {
  readonly unresolved: UnresolvedValue[];
  readonly secrets: string[];
  readonly substituted: Set<string>;
}

const pathKey = (path: Path): string => JSON.stringify(path.map(String));

function resolveTexts(file: string, document: YamlDocument, lookup: Lookup): Resolution {
  const resolution: Resolution = { unresolved: [], secrets: [], substituted: new Set() };
  for (const { path, value, locate, replace } of document.texts()) {
    if (!value.includes('${')) continue;
    const result = substitute(value, lookup);
    for (const { written, message, hint } of result.unresolved) {
      resolution.unresolved.push({ path, fault: { file, ...locate(written), message, hint } });
    }
    resolution.secrets.push(...result.secrets);
    resolution.substituted.add(pathKey(path));
    replace(result.text);
  }
  return resolution;
}

/** What a parser throws instead of reporting it; anything else is a fault of our own. */
function explain(error: unknown): string {
  if (error instanceof ReferenceError) return 'its aliases unfold to too much';
  if (error instanceof RangeError) return 'it is nested too deeply';
  throw error;
}

function readDocument(file: string, path: string, text: string, environment: Environment): ReadResult {
  const parsed = parseYaml(file, text);
  if ('faults' in parsed) return { ok: false, faults: parsed.faults };
  const { document } = parsed;
  const included: string[] = [];
  const readFile = (written: string) => {
    const target = resolve(dirname(path), written);
    included.push(target);
    return readIncluded(target);
  };
  const { substituted, ...resolution } = resolveTexts(file, document, { environment, readFile });
  const isSubstituted = (target: Path): boolean => substituted.has(pathKey(target));
  const { locate, written } = document;
  const value = document.toValue();
  return { ok: true, source: { file, path, text, value, locate, written, isSubstituted, ...resolution, included } };
}

/** Reads `folder/name`, or `text` in its place; `${file:…}` paths are relative to the folder. */
export function readSource(folder: string, name: string, environment: Environment, text?: string): ReadResult {
  const file = join(folder, name);
  const path = resolve(folder, name);
  const fault = (message: string): ReadResult => ({ ok: false, faults: [{ file, ...start, message, hint: null }] });
  const found = text === undefined ? readText(path) : { text };
  if ('problem' in found) return fault(found.problem);
  try {
    return readDocument(file, path, found.text, environment);
  } catch (error) {
    return fault(explain(error));
  }
}
