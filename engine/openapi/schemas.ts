/** The schemas of schemas/api, read once; references among them point to where they stand in the document. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/index.ts';
import type { JsonObject, JsonValue } from '../contract/values.ts';

const place = '#/components/schemas/';

export const schemaReference = (name: string): JsonObject => ({ $ref: `${place}${name}` });

/** `chat.schema.json#/$defs/ChatUsage` → `#/components/schemas/ChatUsage`. */
const moved = (reference: string): string => `${place}${reference.slice(reference.lastIndexOf('/') + 1)}`;

function withMovedReferences(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withMovedReferences);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]): [string, JsonValue] => [
    key,
    key === '$ref' && typeof member === 'string' ? moved(member) : withMovedReferences(member),
  ]);
  return Object.fromEntries(entries);
}

function readAll(): ReadonlyMap<string, JsonValue> {
  const folder = join(packageRoot(), 'schemas/api');
  const all = new Map<string, JsonValue>();
  for (const file of readdirSync(folder).sort()) {
    const { $defs } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { readonly $defs: JsonObject };
    for (const [name, schema] of Object.entries($defs)) {
      if (all.has(name)) throw new Error(`${file}: another file has a schema ${name} too`);
      all.set(name, withMovedReferences(schema));
    }
  }
  return all;
}

let known: ReadonlyMap<string, JsonValue> | null = null;

function* namesIn(value: JsonValue): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === '$ref' && typeof member === 'string' && member.startsWith(place)) yield member.slice(place.length);
    else yield* namesIn(member);
  }
}

/** Every schema that `root` refers to, and those that these refer to, by name. */
export function collectSchemas(root: JsonValue): JsonObject {
  known ??= readAll();
  const found: JsonObject = {};
  const pending = [...namesIn(root)];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found[name] !== undefined) continue;
    const schema = known.get(name);
    if (schema === undefined) throw new Error(`schemas/api has no schema ${name}`);
    found[name] = schema;
    pending.push(...namesIn(schema));
  }
  return Object.fromEntries(Object.entries(found).sort(([left], [right]) => (left < right ? -1 : 1)));
}
