/** One YAML document with the position of every value. The only importer of `yaml`. */
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
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLWarning,
} from 'yaml';
import type { Fault, Path, Place } from './fault.ts';

/** A text with its path; one text has several paths where aliases stand for it. */
export interface Text {
  readonly path: Path;
  /** As the document has it, whatever was put in its place since. */
  readonly value: string;
  /** Of a part of the text; of the alias where one stands for it. */
  locate(part: string): Place;
  replace(value: string): void;
}

export interface YamlDocument {
  /** Throws RangeError and ReferenceError for what is nested too deeply or unfolds to too much. */
  texts(): readonly Text[];
  /** Plain data; an empty document is an empty mapping. */
  toValue(): unknown;
  /** Where a value (or its key) stands; the nearest parent that exists where it does not. */
  locate(path: Path, what?: 'key' | 'value'): Place;
  /** A scalar as the document writes it; null where there is none. */
  written(path: Path): string | null;
}

/** Beyond so many nodes that aliases stand for a document is an attack or a slip. */
const mostUnfolded = 100_000;

type Targets = ReadonlyMap<Alias, Node>;
/** One document's text and what was found in it. */
interface Parsed {
  readonly document: Document;
  readonly text: string;
  readonly targets: Targets;
  readonly placeAt: (offset: number) => Place;
}

const keyText = ({ key }: Pair): string => (isScalar(key) ? String(key.value ?? '') : String(key));
const isSameKey = (left: unknown, right: unknown): boolean =>
  isScalar(left) && isScalar(right) && String(left.value ?? '') === String(right.value ?? '');

const isWithin = (target: Node, node: Node): boolean => node.range![0] < target.range![2];

type Report = (node: Node | null, message: string) => void;

function checkKey({ key }: Pair, report: Report): void {
  if (isScalar(key) && key.source === '<<')
    report(key, 'keys cannot be merged in with <<: write them out, or let an alias stand for a whole value');
  else if (!isScalar(key)) report(key as Node | null, 'a key must be plain text');
}

function checkNumber(node: Scalar, report: Report): void {
  const { value } = node;
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return;
  if (!Number.isFinite(value)) report(node, 'JSON has no such number');
  else if (Number.isInteger(value)) report(node, 'the number has more digits than can be kept exactly');
}

/** What every alias stands for; reports what is YAML, but no data that a configuration can have. */
function examine(document: Document, report: Report): Targets {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const examineAlias = (alias: Alias): void => {
    const target = anchors.get(alias.source);
    if (target === undefined) report(alias, `there is no anchor &${alias.source}`);
    else if (isWithin(target, alias)) report(alias, `the alias *${alias.source} stands within its own anchor`);
    else targets.set(alias, target);
  };
  visit(document, {
    Pair: (_key, pair) => checkKey(pair, report),
    Node: (_key, node) => {
      if (isAlias(node)) return examineAlias(node);
      if (isScalar(node)) checkNumber(node, report);
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

type Leaf = (scalar: Scalar, path: Path, alias: Alias | null) => void;

/** Every scalar under every path that leads to it. */
function walk({ document, targets }: Parsed, leaf: Leaf): void {
  let unfolded = 0;
  const step = (node: unknown, path: Path, alias: Alias | null): void => {
    if (alias !== null) unfolded += 1;
    if (unfolded > mostUnfolded) throw new ReferenceError('unfolds to too much');
    if (isAlias(node)) step(targets.get(node), path, alias ?? node);
    else if (isScalar(node)) leaf(node, path, alias);
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) step(item, [...path, index], alias);
    else if (isMap(node)) for (const pair of node.items) step(pair.value, [...path, keyText(pair)], alias);
  };
  step(document.contents, [], null);
}

function textsOf(parsed: Parsed): Text[] {
  const texts: Text[] = [];
  walk(parsed, (scalar, path, alias) => {
    const { value } = scalar;
    if (typeof value !== 'string') return;
    const begin = (alias ?? scalar).range?.[0] ?? 0;
    const offsetOf = (part: string) => (alias === null ? Math.max(begin, parsed.text.indexOf(part, begin)) : begin);
    texts.push({
      path,
      value,
      locate: (part) => parsed.placeAt(offsetOf(part)),
      replace: (by) => {
        scalar.value = by;
      },
    });
  });
  return texts;
}

type Child = { readonly key: Node | null; readonly value: Node | null };

function childOf(targets: Targets, node: Node | null, part: string | number): Child | null {
  const target = isAlias(node) ? targets.get(node) : node;
  if (isSeq(target) && typeof part === 'number') {
    const item = target.items[part] as Node | undefined;
    return item === undefined ? null : { key: item, value: item };
  }
  if (!isMap(target)) return null;
  const pair = (target as YAMLMap).items.find((item) => keyText(item) === String(part));
  return pair === undefined ? null : { key: pair.key as Node, value: pair.value as Node | null };
}

function find({ document, targets }: Parsed, path: Path): { readonly child: Child; readonly whole: boolean } {
  let child: Child = { key: document.contents, value: document.contents };
  for (const part of path) {
    const next = childOf(targets, child.value, part);
    if (next === null) return { child: { key: child.key, value: child.key }, whole: false };
    child = next;
  }
  return { child, whole: true };
}

function describe(error: YAMLError | YAMLWarning, line: string): string {
  if (error.code === 'DUPLICATE_KEY') return 'the same key stands here twice';
  if (error.code === 'MULTIPLE_DOCS') return 'the file holds more than one YAML document';
  const sentence = error.message.replace(/\s+/g, ' ').trim();
  const advice = /\$\{/.test(line) ? ` (within [ ] and { } a $\{…} needs quotes)` : '';
  return `not valid YAML: ${sentence}${advice}`;
}

function createDocument(parsed: Parsed): YamlDocument {
  const { document, text, placeAt } = parsed;
  return {
    texts: () => textsOf(parsed),
    // How far aliases may unfold was checked on the way to the texts.
    toValue: () => document.toJS({ maxAliasCount: -1 }) ?? {},
    locate(path, what = 'value') {
      const { child, whole } = find(parsed, path);
      const node = whole && what === 'value' ? (child.value ?? child.key) : child.key;
      return node?.range ? placeAt(node.range[0]) : { line: 1, column: 1 };
    },
    written(path) {
      const { child, whole } = find(parsed, path);
      if (!whole || !isScalar(child.value) || !child.value.range) return null;
      return text.slice(child.value.range[0], child.value.range[1]);
    },
  };
}

/** One slip makes a parser report many: the first ones tell. */
const mostFaults = 5;

/** Parses the content of `file`. Throws RangeError for what is nested too deeply. */
export function parseYaml(file: string, text: string): { readonly document: YamlDocument } | { faults: Fault[] } {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: isSameKey });
  const placeAt = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  if (document.errors.some((error) => error.message.includes('call stack'))) throw new RangeError('nested too deeply');
  const lines = text.split('\n');
  const faults = [...document.errors, ...document.warnings].slice(0, mostFaults).map((error) => {
    const place = placeAt(error.pos[0]);
    return { file, ...place, message: describe(error, lines[place.line - 1] ?? ''), hint: null };
  });
  const report: Report = (node, message) => {
    faults.push({ file, ...placeAt(node?.range?.[0] ?? 0), message, hint: null });
  };
  const targets = examine(document, report);
  return faults.length > 0 ? { faults } : { document: createDocument({ document, text, targets, placeAt }) };
}
