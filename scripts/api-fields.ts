/** A schema of the OpenAPI document as Markdown: its fields, or the kinds it comes in. */
import { isSchema, type Schema } from './schema-table.ts';

const inline = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Last part of a reference. */
export const nameOf = (reference: unknown): string => String(reference).split('/').at(-1)!;

export const linkTo = (name: string): string => `[${name}](#${name.toLowerCase()})`;

const alternatives = (schema: Schema): readonly Schema[] => (Array.isArray(schema.anyOf) ? schema.anyOf : []);

/** Null counts as absent wherever a field may be left out: the introduction says so once. */
const words = (type: unknown): string[] =>
  [type]
    .flat()
    .filter((word) => word !== 'null' && word !== undefined)
    .map(String);

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return linkTo(nameOf(schema.$ref));
  if (alternatives(schema).length > 0) {
    const kinds = alternatives(schema)
      .filter(({ type }) => type !== 'null')
      .map(typeOf);
    return kinds.join(' or ');
  }
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (Array.isArray(schema.enum)) {
    return schema.enum
      .filter((value) => value !== null)
      .map((value) => `\`${String(value)}\``)
      .join(', ');
  }
  if (isSchema(schema.items)) return `list of ${typeOf(schema.items)}`;
  if (schema.format === 'binary') return 'file';
  if (schema.contentEncoding === 'base64') return 'Base64';
  return words(schema.type).join(' or ') || 'anything';
}

function meaningOf(schema: Schema): string {
  const such = Array.isArray(schema.examples)
    ? [`Such as ${schema.examples.map((one) => `\`${one}\``).join(', ')}.`]
    : [];
  const standard = schema.default === undefined ? [] : [`Default: \`${String(schema.default)}\`.`];
  return [String(schema.description), ...such, ...standard].join(' ');
}

function* rowsOf(prefix: string, schema: Schema): Generator<string> {
  const required = (schema.required as readonly string[] | undefined) ?? [];
  for (const [name, field] of Object.entries((schema.properties as Record<string, Schema> | undefined) ?? {})) {
    const key = prefix + name;
    yield `| \`${key}\` | ${inline(typeOf(field))} | ${required.includes(name) ? 'yes' : ''} | ${inline(meaningOf(field))} |`;
    if (isSchema(field.items)) yield* rowsOf(`${key}[].`, field.items);
    else yield* rowsOf(`${key}.`, field);
  }
}

/** Everything below the heading of a schema. */
export function schemaText(schema: Schema): string {
  const parts = [String(schema.description)];
  const kinds = alternatives(schema).filter((one) => one.$ref !== undefined);
  if (kinds.length > 0) parts.push(kinds.map((one) => `* ${linkTo(nameOf(one.$ref))}`).join('\n'));
  const parents = Array.isArray(schema.allOf) ? schema.allOf.map((one) => linkTo(nameOf((one as Schema).$ref))) : [];
  if (parents.length > 0) parts.push(`All fields of ${parents.join(', ')}, and these:`);
  const rows = [...rowsOf('', schema)];
  if (rows.length > 0)
    parts.push(['| Field | Type | Required | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n'));
  else if (isSchema(schema.items)) parts.push(`A ${typeOf(schema)}.`);
  return parts.join('\n\n');
}

/** Names of the schemas that a text links to. */
export function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === '$ref' ? [nameOf(member)] : namesIn(member)));
}
