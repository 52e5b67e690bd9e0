/** A JSON Schema as a Markdown table: one row for every key that can be written. */
export type Schema = Readonly<Record<string, unknown>>;

interface Row {
  readonly key: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly reload: string;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What every row of one table shares. */
interface Table {
  readonly root: Schema;
  /** `$ref` → the key below which its own keys stand. */
  readonly shown: Map<string, string>;
}

function targetOf(reference: string, root: Schema): Schema {
  const parts = reference.split('/').slice(1);
  return parts.reduce<unknown>((value, part) => (value as Schema)[part], root) as Schema;
}

/** Resolves a `$ref`; its keys are shown once, later rows refer to them. */
function resolve(key: string, schema: Schema, { root, shown }: Table): Schema {
  const { $ref, ...own } = schema;
  if (typeof $ref !== 'string') return schema;
  const first = shown.get($ref);
  if (first === undefined) {
    shown.set($ref, key);
    return { ...targetOf($ref, root), ...own };
  }
  return { type: 'object', ...own, description: `${own.description} Keys as in \`${first}\`.` };
}

const below = (key: string, name: string): string => (key === '' ? name : `${key}.${name}`);

/** Keys, values of mappings and items of lists: everything that has a description of its own. */
function* childrenOf(key: string, schema: Schema): Generator<Omit<Row, 'reload'>> {
  const required = (schema.required as readonly string[] | undefined) ?? [];
  for (const [name, child] of Object.entries((schema.properties as Schema | undefined) ?? {})) {
    yield { key: below(key, name), schema: child as Schema, required: required.includes(name) };
  }
  for (const child of Object.values((schema.patternProperties as Schema | undefined) ?? {})) {
    yield { key: below(key, '‹status›'), schema: child as Schema, required: false };
  }
  if (isSchema(schema.additionalProperties)) {
    yield { key: below(key, '‹name›'), schema: schema.additionalProperties, required: false };
  }
  if (isSchema(schema.items)) yield { key: `${key}[]`, schema: schema.items, required: false };
}

function* rowsOf(key: string, schema: Schema, table: Table, reload: string): Generator<Row> {
  for (const child of childrenOf(key, schema)) {
    const resolved = resolve(child.key, child.schema, table);
    const mark = String(resolved['x-reload'] ?? reload);
    if (typeof resolved.description === 'string') yield { ...child, schema: resolved, reload: mark };
    yield* rowsOf(child.key, resolved, table, mark);
  }
}

const inline = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function typeOf(schema: Schema): string {
  if (typeof schema['x-expected'] === 'string' && !isSchema(schema.properties)) return inline(schema['x-expected']);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const words: Record<string, string> = {
    string: 'text',
    integer: 'whole number',
    number: 'number',
    boolean: '`true`, `false`',
    array: 'list',
    object: 'mapping',
    null: 'nothing',
  };
  return [schema.type]
    .flat()
    .map((type) => words[String(type)] ?? String(type))
    .join(' or ');
}

function defaultOf({ schema, required }: Row): string {
  if (required) return '**required**';
  const isGroup = isSchema(schema.default) && Object.keys(schema.default).length === 0;
  return schema.default === undefined || isGroup ? '' : `\`${inline(JSON.stringify(schema.default))}\``;
}

const boundWords: Record<string, string> = { minimum: 'at least', maximum: 'at most', minLength: 'length at least' };

function descriptionOf(schema: Schema): string {
  // `x-expected` says all that there is to say.
  const bounds = Object.entries(schema['x-expected'] === undefined ? boundWords : {}).flatMap(([keyword, words]) =>
    typeof schema[keyword] === 'number' && schema[keyword] !== 1 ? [`${words} ${schema[keyword]}`] : [],
  );
  const secret = schema['x-secret'] === true ? ' Never shown in messages.' : '';
  return inline(`${schema.description}${secret}${bounds.length > 0 ? ` (${bounds.join(', ')})` : ''}`);
}

/** Markdown; empty where the schema has no keys. `reload` adds a column that says when a change holds. */
export function schemaTable(schema: Schema, options: { readonly reload?: boolean } = {}): string {
  const rows = [...rowsOf('', schema, { root: schema, shown: new Map() }, '')];
  if (rows.length === 0) return '';
  const reload = options.reload === true;
  const heads = ['Key', 'Value', 'Default', ...(reload ? ['Change'] : []), 'Meaning'];
  const lines = rows.map((row) => {
    const change = row.reload === 'live' ? 'live' : row.reload === 'restart' ? 'restart' : '';
    const cells = [`\`${row.key}\``, typeOf(row.schema), defaultOf(row), ...(reload ? [change] : [])];
    return `| ${[...cells, descriptionOf(row.schema)].join(' | ')} |`;
  });
  return [`| ${heads.join(' | ')} |`, `|${' --- |'.repeat(heads.length)}`, ...lines].join('\n');
}
