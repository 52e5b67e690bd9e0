/** Reads one YAML file with the position of every value. The only importer of `yaml` and reader of `process.env`. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
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

function readText(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    const length = statSync(path).size;
    if (length > maximumBytes)
      return { problem: `the file has ${length} bytes, more than the ${maximumBytes} allowed` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) };
  } catch (error) {
    if (error instanceof TypeError) return { problem: 'the file is not UTF-8' };
    const { code } = error as NodeJS.ErrnoException;
    return { problem: code === 'ENOENT' ? 'there is no such file' : `the file cannot be read (${code})` };
  }
}

function readIncluded(path: string): { readonly text: string } | { readonly problem: string } {
  const found = readText(path);
  if ('problem' in found) return { problem: `${path}: ${found.problem}` };
  if (found.text.length > maximumIncluded) return { problem: `${path}: more than ${maximumIncluded} characters` };
  return { text: found.text.replace(/\r?\n$/, '') };
}

type Child = { readonly key: Node | null; readonly value: Node | null };

const keyText = (pair: Pair): string => (isScalar(pair.key) ? String(pair.key.value) : String(pair.key));

function childOf(document: Document, node: Node | null, part: string | number): Child | null {
  const target = isAlias(node) ? (node.resolve(document) ?? null) : node;
  if (isSeq(target) && typeof part === 'number') {
    const item = target.items[part] as Node | undefined;
    return item === undefined ? null : { key: item, value: item };
  }
  if (!isMap(target)) return null;
  const pair = (target as YAMLMap).items.find((item) => keyText(item) === String(part));
  return pair === undefined ? null : { key: pair.key as Node, value: pair.value as Node | null };
}

function find(document: Document, path: Path): { readonly child: Child; readonly whole: boolean } {
  let child: Child = { key: document.contents, value: document.contents };
  for (const part of path) {
    const next = childOf(document, child.value, part);
    if (next === null) return { child: { key: child.key, value: child.key }, whole: false };
    child = next;
  }
  return { child, whole: true };
}

type Leaf = { readonly node: Scalar | Alias; readonly path: Path };

/** Every scalar and alias of the document with its path; what an alias points at is visited at its anchor. */
function* scalarsOf(node: unknown, path: Path): Generator<Leaf> {
  if (isScalar(node) || isAlias(node)) yield { node, path };
  else if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* scalarsOf(item, [...path, index]);
  else if (isMap(node)) for (const pair of node.items) yield* scalarsOf(pair.value, [...path, keyText(pair)]);
}

function describe(error: YAMLError, line: string): string {
  if (error.code === 'DUPLICATE_KEY') return 'the same key stands here twice';
  if (error.code === 'MULTIPLE_DOCS') return 'the file holds more than one YAML document';
  const sentence = error.message.replace(/\s+/g, ' ').trim();
  const advice = /\$\{/.test(line) ? ` (within [ ] and { } a $\{…} needs quotes)` : '';
  return `not valid YAML: ${sentence}${advice}`;
}

interface Parsed {
  readonly document: Document;
  readonly text: string;
  readonly placeAt: (offset: number) => Place;
}

function parse(file: string, text: string): { readonly parsed: Parsed } | { readonly faults: Fault[] } {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, strict: true });
  const placeAt = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  if (document.errors.some((error) => error.message.includes('call stack'))) throw new RangeError('nested too deeply');
  const lines = text.split('\n');
  // One slip makes a parser report many: the first ones tell.
  const faults = document.errors.slice(0, 5).map((error) => {
    const place = placeAt(error.pos[0]);
    return { file, ...place, message: describe(error, lines[place.line - 1] ?? ''), hint: null };
  });
  for (const { node } of scalarsOf(document.contents, [])) {
    if (!isAlias(node) || node.resolve(document) !== undefined) continue;
    faults.push({ file, ...placeAt(node.range?.[0] ?? 0), message: `there is no anchor &${node.source}`, hint: null });
  }
  return faults.length > 0 ? { faults } : { parsed: { document, text, placeAt } };
}

interface Resolution {
  readonly unresolved: UnresolvedValue[];
  readonly secrets: string[];
  readonly substituted: Set<string>;
}

const pathKey = (path: Path): string => JSON.stringify(path.map(String));

function resolveScalars(file: string, parsed: Parsed, lookup: Lookup): Resolution {
  const resolution: Resolution = { unresolved: [], secrets: [], substituted: new Set() };
  for (const { node, path } of scalarsOf(parsed.document.contents, [])) {
    if (isAlias(node) || typeof node.value !== 'string' || !node.value.includes('${')) continue;
    const result = substitute(node.value, lookup);
    const begin = node.range?.[0] ?? 0;
    for (const { written, message, hint } of result.unresolved) {
      const place = parsed.placeAt(Math.max(begin, parsed.text.indexOf(written, begin)));
      resolution.unresolved.push({ path, fault: { file, ...place, message, hint } });
    }
    resolution.secrets.push(...result.secrets);
    resolution.substituted.add(pathKey(path));
    node.value = result.text;
  }
  return resolution;
}

function createSource(file: string, path: string, parsed: Parsed, resolution: Resolution): Omit<SourceFile, 'value'> {
  const locate: SourceFile['locate'] = (target, what = 'value') => {
    const { child, whole } = find(parsed.document, target);
    const node = whole && what === 'value' ? (child.value ?? child.key) : child.key;
    return node?.range ? parsed.placeAt(node.range[0]) : start;
  };
  const written: SourceFile['written'] = (target) => {
    const { child, whole } = find(parsed.document, target);
    if (!whole || !isScalar(child.value) || !child.value.range) return null;
    return parsed.text.slice(child.value.range[0], child.value.range[1]);
  };
  const isSubstituted = (target: Path): boolean => resolution.substituted.has(pathKey(target));
  const { text } = parsed;
  return { file, path, text, locate, written, isSubstituted, ...resolution, included: [] };
}

/** What a parser throws instead of reporting it; anything else is a fault of our own. */
function explain(error: unknown): string {
  if (error instanceof ReferenceError) return 'its aliases unfold to too much';
  if (error instanceof RangeError) return 'it is nested too deeply';
  throw error;
}

function readDocument(file: string, path: string, text: string, environment: Environment): ReadResult {
  const outcome = parse(file, text);
  if ('faults' in outcome) return { ok: false, faults: outcome.faults };
  const included: string[] = [];
  const readFile = (written: string) => {
    const target = resolve(dirname(path), written);
    included.push(target);
    return readIncluded(target);
  };
  const resolution = resolveScalars(file, outcome.parsed, { environment, readFile });
  const source = createSource(file, path, outcome.parsed, resolution);
  const value = outcome.parsed.document.toJS({ maxAliasCount: 100 }) ?? {};
  return { ok: true, source: { ...source, included, value } };
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
