/** TypeScript types of the four files as they are after validation: what has a default is always there. */
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { isSchema, type Schema } from './schema-table.ts';

/** Properties with a default count as required; titles go, so that each file has one type. */
function filled(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(filled);
  if (!isSchema(schema)) return schema;
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref };
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'title' && typeof value === 'string') continue;
    // A pattern of keys says nothing to TypeScript.
    if (key !== 'patternProperties' && key !== 'propertyNames') copy[key] = filled(value);
  }
  if (isSchema(schema.patternProperties))
    copy.additionalProperties = filled(Object.values(schema.patternProperties)[0]);
  if (!isSchema(schema.properties)) return copy;
  const defaulted = Object.entries(schema.properties).filter(([, value]) => isSchema(value) && 'default' in value);
  copy.required = [...new Set([...((schema.required as string[]) ?? []), ...defaulted.map(([key]) => key)])];
  return copy;
}

/** The text of `schemas/types/<name>.ts`. */
export async function typesOf(name: string, schema: Schema): Promise<string> {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}File`;
  const input = { ...(filled(schema) as Schema), $id: title } as JSONSchema;
  return compile(input, title, {
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    bannerComment: `/* Generated from ../${name}.schema.json by \`npm run generate\`; do not edit. */`,
    style: { singleQuote: true, printWidth: 120 },
    unknownAny: true,
  });
}
