import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../engine/config/index.ts';
import { compileSchema } from '../../engine/config/validate.ts';
import { isSchema, type Schema, schemaTable } from '../../scripts/schema-table.ts';
import { typesOf } from '../../scripts/types-of-schemas.ts';

const read = (name: string): Schema =>
  JSON.parse(readFileSync(join(packageRoot(), 'schemas', `${name}.schema.json`), 'utf8')) as Schema;

/** Every field that an operator can write, with its path. */
function* fieldsOf(schema: Schema, path: string): Generator<readonly [string, Schema]> {
  const children = { ...(schema.properties as object), ...(schema.patternProperties as object) };
  for (const [key, child] of Object.entries(children)) {
    yield [`${path}.${key}`, child as Schema];
    yield* fieldsOf(child as Schema, `${path}.${key}`);
  }
  for (const key of ['items', 'additionalProperties', '$defs']) {
    const child = schema[key];
    if (key === '$defs')
      for (const value of Object.values((child as Schema) ?? {})) yield* fieldsOf(value as Schema, path);
    else if (isSchema(child)) yield* fieldsOf(child, `${path}.${key}`);
  }
}

describe.each(['gateway', 'routes', 'channels', 'models'])('schema of %s.yaml', (name) => {
  const schema = read(name);
  const fields = [['', schema] as const, ...fieldsOf(schema, '')];

  test('every field has a title and a description', () => {
    const bare = fields.filter(([, field]) => typeof field.title !== 'string' || typeof field.description !== 'string');
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  test('every object is closed, or says what its values are', () => {
    const objects = fields.filter(([, field]) => [field.type].flat().includes('object'));
    expect(objects.filter(([, field]) => field.additionalProperties === undefined)).toEqual([]);
    const withKeys = objects.filter(([, field]) => field.properties !== undefined);
    expect(withKeys.filter(([, field]) => field.additionalProperties !== false)).toEqual([]);
  });

  test('every default is allowed by its own schema', () => {
    const wrong = fields.filter(([, field]) => {
      if (field.default === undefined) return false;
      const { default: value, ...rest } = field;
      return compileSchema({ ...rest, $defs: schema.$defs ?? {} })(structuredClone(value)).length > 0;
    });
    expect(wrong.map(([path]) => path)).toEqual([]);
  });

  test('the generated types are fresh', async () => {
    const path = join(packageRoot(), 'schemas', 'types', `${name}.ts`);
    expect(readFileSync(path, 'utf8')).toBe(await typesOf(name, schema));
  });
});

describe('schemaTable', () => {
  test('one row for every key, with what it may be and its default', () => {
    const table = schemaTable({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'What it is | called.' },
        ports: {
          type: 'array',
          description: 'Where.',
          items: { type: 'integer', description: 'One.', maximum: 9, default: 3 },
        },
      },
    });
    expect(table.split('\n')).toEqual([
      '| Key | Value | Default | Meaning |',
      '| --- | --- | --- | --- |',
      '| `name` | text | **required** | What it is \\| called. |',
      '| `ports` | list |  | Where. |',
      '| `ports[]` | whole number | `3` | One. (at most 9) |',
    ]);
  });

  test('a schema without keys has no table', () => {
    expect(schemaTable({ type: 'object', additionalProperties: false, properties: {} })).toBe('');
  });
});
