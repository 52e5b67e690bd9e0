/** What the document says about one kind of route, beyond what routes.yaml and the schemas say. */
import type { Operation } from '../contract/operations.ts';
import type { JsonObject } from '../contract/values.ts';

/** A parameter of the query or a header. */
export interface EntryParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly type: 'string' | 'integer';
  readonly required?: true;
}

/** Media type → name of a schema in schemas/api. */
type Bodies = Readonly<Record<string, string>>;

export type ErrorForm = 'OpenAiError' | 'AnthropicError' | 'GoogleError' | 'GenericError';

export interface RouteEntry {
  readonly operation: Operation;
  /** Client protocols that it holds for. */
  readonly protocols: readonly string[];
  /** Only for paths that end so; an entry without one serves the rest. */
  readonly ending?: string;
  /** Begins the operationId. */
  readonly id: string;
  readonly tag: string;
  /** A few words. */
  readonly summary: string;
  /** Whole sentences. */
  readonly description: string;
  readonly parameters?: readonly EntryParameter[];
  readonly request?: Bodies;
  /** A body that works; `model` is filled in. `@name` in a form is a file of that name. */
  readonly example?: JsonObject;
  readonly replies: Bodies;
  /** default: 200 */
  readonly status?: '101' | '302';
  /** Sockets: the schemas of what is sent and what is got. */
  readonly events?: { readonly client: string; readonly server: string };
  readonly errors: ErrorForm;
}

/** Of a list in pages; `one`: what it is a list of. */
export const pageParameters = (one: string): readonly EntryParameter[] => [
  { name: 'limit', in: 'query', description: `How many ${one}s are on a page: 1 to 100, else 20.`, type: 'integer' },
  { name: 'after', in: 'query', description: `The last ${one} of the page before.`, type: 'string' },
  { name: 'order', in: 'query', description: '`desc`, the newest first, or `asc`.', type: 'string' },
];

export const json = (schema: string): Bodies => ({ 'application/json': schema });
export const form = (schema: string): Bodies => ({ 'multipart/form-data': schema });
/** JSON, or events; `event` is the schema of the data of one. */
export const streamed = (schema: string, event: string): Bodies => ({
  'application/json': schema,
  'text/event-stream': event,
});
