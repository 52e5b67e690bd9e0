/** Checks data against JSON Schemas (draft 2020-12) and fills defaults in. The only importer of `ajv`. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../contract/values.ts';
import type { Faults } from './collect.ts';
import type { Path } from './fault.ts';
import type { SourceFile } from './read.ts';
import { type Finding, writeSentence } from './sentences.ts';
import { parseDuration, parseSize } from './units.ts';

export interface Problem {
  /** Below the value that was checked. */
  readonly path: Path;
  readonly keyword: string;
  readonly message: string;
  readonly hint: string | null;
  readonly at: 'key' | 'value';
  /** What a `type` problem wants: `integer`, … */
  readonly wanted: readonly string[];
}

/** Checks a value and fills its defaults in; answers what is wrong. */
export type Check = (value: unknown) => readonly Problem[];

const ajv = new Ajv2020({
  allErrors: true,
  useDefaults: true,
  strict: true,
  strictTypes: false,
  strictTuples: false,
  verbose: true,
});
ajv.addVocabulary(['x-reload', 'x-expected', 'x-secret']);
ajv.addFormat('duration', (text) => parseDuration(text) !== null);
ajv.addFormat('size', (text) => parseSize(text) !== null);
ajv.addFormat('uri', (text) => URL.canParse(text));

/** Of an ajv pointer: list indices as numbers, keys as text. */
function pathOf(pointer: string, root: unknown): (string | number)[] {
  let value = root;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const key = Array.isArray(value) ? Number(text) : text;
      value = (value as Record<string | number, unknown> | undefined)?.[key];
      return key;
    });
}

function problemOf(error: ErrorObject, root: unknown): Problem {
  const finding: Finding = {
    keyword: error.keyword,
    params: error.params,
    schema: (error.parentSchema ?? {}) as Finding['schema'],
    value: error.data,
    fallback: error.message ?? 'is not allowed',
  };
  const { message, hint, below, at } = writeSentence(finding);
  const path = pathOf(error.instancePath, root);
  const wanted = error.keyword === 'type' ? [error.params.type].flat().map(String) : [];
  return { path: below === null ? path : [...path, below], keyword: error.keyword, message, hint, at, wanted };
}

const compiled = new WeakMap<JsonSchema, Check>();

/** Compiles a schema once; throws Error with ajv's reason where the schema itself is wrong. */
export function compileSchema(schema: JsonSchema): Check {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const validate = ajv.compile(schema);
  // Nothing refers to it by name, and a reloaded plugin brings its schema again.
  ajv.removeSchema(schema);
  const check: Check = (value) => {
    if (validate(value)) return [];
    const named = (validate.errors ?? []).filter((error) => error.propertyName === undefined);
    return named.map((error) => problemOf(error, value));
  };
  compiled.set(schema, check);
  return check;
}

function coerced(text: unknown, wanted: readonly string[]): unknown {
  if (typeof text !== 'string') return text;
  if (wanted.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (wanted.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  return text;
}

/** `${env:PORT}` is text; where the schema wants a number or a boolean, the text is read as one. */
function coerceSubstituted(source: SourceFile, problems: readonly Problem[]): boolean {
  let changed = false;
  for (const problem of problems) {
    if (problem.keyword !== 'type' || !source.isSubstituted(problem.path)) continue;
    let parent = source.value as Record<string | number, unknown>;
    for (const part of problem.path.slice(0, -1)) parent = parent[part] as Record<string | number, unknown>;
    const last = problem.path.at(-1) as string;
    const value = coerced(parent[last], problem.wanted);
    changed ||= value !== parent[last];
    parent[last] = value;
  }
  return changed;
}

const startsWith = (path: Path, begin: Path): boolean => begin.every((part, index) => path[index] === part);

/** Checks a whole file; faults at values that could not be resolved are left to their own fault. */
export function validateSource(source: SourceFile, schema: JsonSchema, faults: Faults): void {
  const check = compileSchema(schema);
  let problems = check(source.value);
  if (coerceSubstituted(source, problems)) problems = check(source.value);
  for (const { path, message, hint, at } of problems) {
    if (source.unresolved.some((value) => startsWith(path, value.path))) continue;
    faults.add(source, path, message, { hint, at });
  }
}
