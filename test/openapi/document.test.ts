/** The document of the demo's own routes: OpenAPI 3.1, whole and open. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration, packageRoot } from '../../engine/config/index.ts';
import type { Route } from '../../engine/contract/model.ts';
import { openApiDocument } from '../../engine/openapi/index.ts';
import { builtIns } from '../../plugins/index.ts';
import { blocksOf, readDocument } from '../docs/blocks.ts';
import { metaSchema } from './meta-schema.ts';
import { createSchemas, type Document } from './validator.ts';

const loaded = await loadConfiguration(packageRoot(), builtIns, {});
if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
const { configuration } = loaded;
let document: Document;

beforeAll(() => {
  document = openApiDocument(configuration, null);
});

/** Every object within a value, with its place. */
function* objectsIn(value: unknown, place: string): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Record<string, unknown>];
  for (const [key, member] of Object.entries(value)) yield* objectsIn(member, `${place}/${key}`);
}

function find(reference: string): unknown {
  const parts = reference.slice(2).split('/');
  return parts.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], document);
}

const templateOf = ({ path, operation }: Route): string => {
  const model = path.includes('*:') || operation === 'models.get';
  return path.replace('*', model ? '{model}' : '{id}').replace(/(?<=\/):(\w+)/g, '{$1}');
};

const routes = configuration.routes.map((route) => [`${route.method} ${route.path}`, route] as const);

describe('the document', () => {
  test('is OpenAPI 3.1', () => {
    const check = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false }).compile(metaSchema);
    check(document);
    expect(check.errors).toBeNull();
  });

  test('an error in it would be found', () => {
    const check = new Ajv2020({ strictTypes: false, strictRequired: false }).compile(metaSchema);
    expect(check({ ...document, openapi: '3.0.0' })).toBe(false);
    expect(check({ ...document, path: {} })).toBe(false);
    expect(check({ ...document, paths: { '/a': { get: { operationId: 'a' } } } })).toBe(false);
  });

  test('every reference leads somewhere', () => {
    const references = [...objectsIn(document, '')].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
    expect(references.length).toBeGreaterThan(500);
    expect(references.filter((reference) => find(reference) === undefined)).toEqual([]);
  });

  test('every operation has an id of its own', () => {
    const ids = [...objectsIn(document.paths, '')].flatMap(([, { operationId }]) => operationId ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('every parameter of a path is described', () => {
    for (const [path, methods] of Object.entries<Document>(document.paths))
      for (const { parameters = [] } of Object.values<Document>(methods)) {
        const described = parameters.filter((one: Document) => one.in === 'path').map((one: Document) => one.name);
        expect(described).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      }
  });
});

describe('every route of routes.yaml', () => {
  test.each(routes)('%s has schemas of its request, its answer and its errors', (_, route) => {
    const operation = document.paths[templateOf(route)]?.[route.method.toLowerCase()];
    expect(operation, 'in the document').toBeDefined();
    const text = JSON.stringify(operation);
    expect(text).not.toContain('Generic');
    if (route.method === 'POST') {
      const contents = Object.values<Document>(operation.requestBody.content);
      for (const { schema } of contents)
        expect(Object.keys((find(schema.$ref) as Document).properties)).not.toEqual([]);
      expect(contents.filter(({ example }) => example !== undefined)).toHaveLength(1);
      expect(operation.requestBody.description).toMatch(/^At most \d+[a-z]+\./);
    }
    const [status = '', reply] = Object.entries<Document>(operation.responses)[0]!;
    if (status === '200') {
      expect(Object.keys(reply.content)).not.toEqual([]);
      expect(Object.keys(reply.headers)).toContain('x-request-id');
    } else expect(['101', '302']).toContain(status);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '404', '500', '503']));
    expect(operation.security).toHaveLength(4);
  });

  test.each(routes)('%s has errors in the form of its protocol', (_, route) => {
    const operation = document.paths[templateOf(route)][route.method.toLowerCase()];
    const form = route.protocol.startsWith('anthropic')
      ? 'Anthropic'
      : route.protocol.startsWith('gemini')
        ? 'Google'
        : 'OpenAi';
    expect(operation.responses['401'].$ref).toBe(`#/components/responses/${form}Error401`);
  });

  test.each(routes)('%s has its part of docs/api.md, with a command that is run', (_, route) => {
    const document = readDocument('docs/api.md');
    const [, text = ''] = document.split(`### ${route.method} ${templateOf(route)}\n`);
    const [example] = blocksOf(text.split(/^##/m)[0]!);
    expect(example?.language).toBe(route.operation === 'realtime' ? 'js' : 'sh');
    expect(example?.note).toBe('');
  });

  test('the example of a request fits its schema', () => {
    const schemas = createSchemas(document);
    for (const methods of Object.values<Document>(document.paths))
      for (const { operationId, requestBody } of Object.values<Document>(methods))
        for (const { schema, example } of Object.values<Document>(requestBody?.content ?? {}))
          if (example !== undefined)
            expect([operationId, schemas.faultsOf(schema.$ref.split('/').at(-1), example)]).toEqual([operationId, []]);
  });
});

describe('schemas', () => {
  test('every field has a title and a description', () => {
    const fields = [...objectsIn(document.components.schemas, '')]
      .filter(([place]) => /\/properties\/[^/]+$/.test(place) && !place.endsWith('/properties/properties'))
      .filter(([, field]) => typeof field.title !== 'string' || typeof field.description !== 'string');
    expect(fields.map(([place]) => place)).toEqual([]);
  });

  test('no object is closed', () => {
    const closed = [...objectsIn(document.components.schemas, '')].filter(
      ([, { additionalProperties, unevaluatedProperties }]) =>
        additionalProperties === false || unevaluatedProperties === false,
    );
    expect(closed).toEqual([]);
  });

  test('every schema is in use by a route or by another schema', () => {
    const references = new Set([...objectsIn(document, '')].map(([, { $ref }]) => $ref));
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !references.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  test('every schema compiles', () => {
    const schemas = createSchemas(document);
    for (const name of Object.keys(document.components.schemas)) schemas.faultsOf(name, {});
  });
});

describe('a protocol that an operator has added', () => {
  const route = { ...configuration.routes[0]!, path: '/v1/own', protocol: 'own-protocol' };

  test('has a body of any kind', () => {
    const chains = configuration.chains;
    const own = openApiDocument({ routes: [route], chains }, null) as Document;
    const { post } = own.paths['/v1/own'];
    expect(Object.keys(post.requestBody.content)).toEqual(['application/json', 'multipart/form-data']);
    expect(createSchemas(own).faultsOf('GenericBody', { whatever: [1] })).toEqual([]);
    expect(post.responses['401'].$ref).toBe('#/components/responses/GenericError401');
  });

  test('a chain without auth tells nothing of keys', () => {
    const bare = openApiDocument({ routes: [route], chains: new Map() }, null) as Document;
    expect(bare.paths['/v1/own'].post.security).toBeUndefined();
  });
});
