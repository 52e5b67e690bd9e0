/** The rules of OpenAPI 3.1 for what the document uses. Closed: what stands elsewhere or is misspelt is a fault. */
const text = { type: 'string', minLength: 1 };
const reference = {
  type: 'object',
  properties: { $ref: { type: 'string', pattern: '^#/components/' } },
  required: ['$ref'],
  additionalProperties: false,
};
const schema = { type: ['object', 'boolean'] };
const map = (value: object) => ({ type: 'object', additionalProperties: value });

const content = map({
  type: 'object',
  properties: { schema, example: true },
  required: ['schema'],
  additionalProperties: false,
});
const header = {
  type: 'object',
  properties: { description: text, schema },
  required: ['schema'],
  additionalProperties: false,
};
const response = {
  type: 'object',
  properties: { description: text, headers: map({ anyOf: [reference, header] }), content },
  required: ['description'],
  additionalProperties: false,
};
const parameter = {
  type: 'object',
  properties: {
    name: text,
    in: { enum: ['path', 'query', 'header'] },
    required: { type: 'boolean' },
    description: text,
    schema,
  },
  required: ['name', 'in', 'schema'],
  if: { properties: { in: { const: 'path' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['required'], properties: { required: { const: true } } },
  additionalProperties: false,
};
const operation = {
  type: 'object',
  properties: {
    operationId: { type: 'string', pattern: '^[a-z][A-Za-z0-9]*$' },
    tags: { type: 'array', items: text, minItems: 1 },
    summary: text,
    description: text,
    security: { type: 'array', items: map({ type: 'array', items: text }), minItems: 1 },
    parameters: { type: 'array', items: parameter },
    requestBody: {
      type: 'object',
      properties: { description: text, required: { type: 'boolean' }, content },
      required: ['content'],
      additionalProperties: false,
    },
    responses: {
      type: 'object',
      propertyNames: { pattern: '^[1-5][0-9][0-9]$' },
      additionalProperties: { anyOf: [reference, response] },
      minProperties: 2,
    },
  },
  required: ['operationId', 'summary', 'description', 'responses'],
  patternProperties: { '^x-': true },
  additionalProperties: false,
};
const scheme = {
  anyOf: [
    {
      type: 'object',
      properties: { type: { const: 'http' }, scheme: { const: 'bearer' }, description: text },
      required: ['type', 'scheme'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { type: { const: 'apiKey' }, in: { enum: ['header', 'query'] }, name: text, description: text },
      required: ['type', 'in', 'name'],
      additionalProperties: false,
    },
  ],
};

export const metaSchema = {
  type: 'object',
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: {
      type: 'object',
      properties: { title: text, version: text, description: text },
      required: ['title', 'version'],
      additionalProperties: false,
    },
    servers: {
      type: 'array',
      items: { type: 'object', properties: { url: text }, required: ['url'], additionalProperties: false },
    },
    tags: {
      type: 'array',
      uniqueItems: true,
      items: { type: 'object', properties: { name: text }, required: ['name'], additionalProperties: false },
    },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: {
        type: 'object',
        properties: { get: operation, post: operation, delete: operation },
        additionalProperties: false,
      },
    },
    components: {
      type: 'object',
      properties: {
        schemas: {
          type: 'object',
          propertyNames: { pattern: '^[A-Za-z0-9._-]+$' },
          additionalProperties: schema,
        },
        responses: map(response),
        headers: map(header),
        securitySchemes: map(scheme),
      },
      additionalProperties: false,
    },
  },
  required: ['openapi', 'info', 'paths', 'components'],
  additionalProperties: false,
};
