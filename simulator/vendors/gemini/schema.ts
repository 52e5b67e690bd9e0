import { isRecord } from '../../checks.ts';

/** What is wrong with a Schema of Google's own kind: objects name their properties, arrays their items. */
export function schemaProblem(schema: unknown, path: string): string | undefined {
  if (!isRecord(schema)) return undefined;
  const { type, properties, items, anyOf } = schema;
  const kind = String(type).toUpperCase();
  const named = isRecord(properties) ? Object.entries(properties) : [];
  if (kind === 'OBJECT' && named.length === 0) return `${path}.properties: should be non-empty for OBJECT type`;
  if (kind === 'ARRAY' && items === undefined) return `${path}.items: missing field.`;
  for (const [name, property] of named) {
    const problem = schemaProblem(property, `${path}.properties[${name}]`);
    if (problem !== undefined) return problem;
  }
  const branches = Array.isArray(anyOf)
    ? anyOf.map((entry, index) => schemaProblem(entry, `${path}.any_of[${index}]`))
    : [];
  return schemaProblem(items, `${path}.items`) ?? branches.find((problem) => problem !== undefined);
}
