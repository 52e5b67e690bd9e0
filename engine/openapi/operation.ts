/** One route as an operation of the document. */
import { formatDuration, formatSize } from '../config/index.ts';
import type { Route, Stage } from '../contract/model.ts';
import type { JsonObject, JsonValue } from '../contract/values.ts';
import type { EntryParameter, RouteEntry } from './entry.ts';
import { errorReplies } from './errors.ts';
import { pathParameters } from './path.ts';
import { schemaReference } from './schemas.ts';

/** What clients have to put in place of a model's name. */
const modelPlaceholder = 'model-name';

const idempotencyKey: EntryParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key with the same body gets the first answer again, without a second charge.',
  type: 'string',
};

export interface OperationParts {
  readonly route: Route;
  readonly entry: RouteEntry;
  readonly stages: readonly Stage[];
  readonly template: string;
  readonly operationId: string;
}

const hasStage = (stages: readonly Stage[], name: string): boolean => stages.some(({ plugin }) => plugin === name);

const parameterOf = ({ name, in: where, description, type, required }: EntryParameter): JsonObject => ({
  name,
  in: where,
  ...(required ? { required } : {}),
  description,
  schema: { type },
});

function parametersOf({ route, entry, stages, template }: OperationParts): JsonObject[] {
  const isRepeatable = route.method === 'POST' && hasStage(stages, 'idempotency');
  const own = [...(entry.parameters ?? []), ...(isRepeatable ? [idempotencyKey] : [])];
  return [...pathParameters(template), ...own.map(parameterOf)];
}

/** The members of a form are all text but for the files. */
const exampleOf = (example: JsonObject): JsonObject =>
  example.model === '' ? { ...example, model: modelPlaceholder } : example;

function requestOf({ route, entry }: OperationParts): JsonObject {
  if (entry.request === undefined) return {};
  const [first] = Object.keys(entry.request);
  const content = Object.entries(entry.request).map(([type, schema]): [string, JsonObject] => {
    const example = type === first && entry.example !== undefined ? { example: exampleOf(entry.example) } : {};
    return [type, { schema: schemaReference(schema), ...example }];
  });
  const requestBody = {
    required: true,
    description: `At most ${formatSize(route.bodyLimit)}. Fields that are not listed are allowed.`,
    content: Object.fromEntries(content),
  };
  return { requestBody };
}

const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };

function replyOf({ replies, status, errors }: RouteEntry): [string, JsonObject] {
  if (status === '101') return [status, { description: 'The connection is a WebSocket from here on.' }];
  const ownId = errors === 'AnthropicError' ? { 'request-id': { $ref: '#/components/headers/RequestId' } } : {};
  const headers: JsonObject = { ...requestId, ...ownId };
  if (status === '302')
    return [
      status,
      {
        description: 'Where the file is.',
        headers: { ...headers, location: { $ref: '#/components/headers/Location' } },
      },
    ];
  const content = Object.entries(replies).map(([type, schema]): [string, JsonValue] => [
    type,
    { schema: schemaReference(schema) },
  ]);
  const events =
    'text/event-stream' in replies ? ' Of `text/event-stream` the schema says what the data of one event is.' : '';
  return ['200', { description: `The answer.${events}`, headers, content: Object.fromEntries(content) }];
}

/** Any one of them opens the route. */
export const securitySchemes: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key, `sk-…`.' },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key, `sk-…`.' },
  googleKeyHeader: { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: 'An API key, `sk-…`.' },
  keyParameter: { type: 'apiKey', in: 'query', name: 'key', description: 'An API key, `sk-…`.' },
};

export function operationOf(parts: OperationParts): JsonObject {
  const { route, entry, stages, operationId } = parts;
  const [status, reply] = replyOf(entry);
  const parameters = parametersOf(parts);
  const { events } = entry;
  return {
    operationId,
    tags: [entry.tag],
    summary: entry.summary,
    description: `${entry.description} A request may take ${formatDuration(route.timeout)}.`,
    ...(hasStage(stages, 'auth') ? { security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })) } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestOf(parts),
    responses: { [status]: reply, ...errorReplies(route, entry.errors) },
    ...(events === undefined
      ? {}
      : { 'x-events': { client: schemaReference(events.client), server: schemaReference(events.server) } }),
  };
}
