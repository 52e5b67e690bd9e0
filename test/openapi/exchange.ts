/** One request and its answer, held against the document. */
import type { Document, Schemas } from './validator.ts';

export interface Recorded {
  readonly method: string;
  readonly path: string;
  /** Parsed; a form as its fields. */
  readonly request: unknown;
  readonly requestType: string | null;
  readonly status: number;
  readonly contentType: string;
  readonly answer: string;
}

const expressionOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .replaceAll('.', '\\.')
      .replace('{model}', '.+')
      .replace(/\{\w+\}/g, '[^/]+')}$`,
  );

function operationOf(document: Document, method: string, path: string): Document {
  const templates = Object.keys(document.paths).filter((template) => expressionOf(template).test(path));
  const exact = templates.find((template) => template === path);
  const found = document.paths[exact ?? templates[0] ?? '']?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`the document has no ${method} ${path}`);
  return found;
}

const nameOf = ({ $ref }: Document): string => $ref.split('/').at(-1);

function resolved(document: Document, reply: Document): Document {
  return reply?.$ref === undefined ? reply : document.components.responses[nameOf(reply)];
}

/** The data of every event that is JSON. */
function eventsOf(text: string): unknown[] {
  const data = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  return data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line));
}

function answers(contentType: string, text: string): unknown[] {
  if (contentType.startsWith('application/json')) return [JSON.parse(text)];
  return contentType.startsWith('text/event-stream') ? eventsOf(text) : [text];
}

/** `audio/mpeg` fits `audio/*`. */
function contentFor(content: Document, contentType: string): Document {
  const [type = ''] = contentType.split(';');
  return content[type] ?? content[type.replace(/\/.*/, '/*')];
}

/** What does not fit; empty where all does. */
export function faultsOf(document: Document, schemas: Schemas, recorded: Recorded): string[] {
  const { method, path, request, requestType, status, contentType, answer } = recorded;
  const operation = operationOf(document, method, path);
  const faults: string[] = [];
  if (request !== null) {
    const content = operation.requestBody.content[requestType ?? ''];
    if (content === undefined) faults.push(`a body of ${requestType}`);
    else faults.push(...schemas.faultsOf(nameOf(content.schema), request).map((fault) => `request ${fault}`));
  }
  const reply = resolved(document, operation.responses[String(status)]);
  if (reply === undefined) return [...faults, `status ${status}: ${answer}`];
  if (reply.content === undefined) return faults;
  const content = contentFor(reply.content, contentType);
  if (content === undefined) return [...faults, `an answer of ${contentType}`];
  const values = answers(contentType, answer);
  if (values.length === 0) faults.push('an answer without events');
  for (const value of values) {
    // An error ends a stream of any protocol: SDKs look for `error` before anything else.
    const isError = contentType.startsWith('text/event-stream') && (value as Document).error;
    const schema = isError ? errorSchema(operation) : nameOf(content.schema);
    faults.push(...schemas.faultsOf(schema, value).map((fault) => `answer ${fault} in ${JSON.stringify(value)}`));
  }
  return faults;
}

const errorSchema = (operation: Document): string => nameOf(operation.responses['401']).replace('401', '');

function formOf(form: FormData): unknown {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form) {
    const key = name.replace(/\[\d*\]$/, '');
    const text = typeof value === 'string' ? value : value.name;
    fields[key] = fields[key] === undefined ? text : [fields[key], text].flat();
  }
  return fields;
}

function requestOf(body: unknown): Pick<Recorded, 'request' | 'requestType'> {
  if (body instanceof FormData) return { request: formOf(body), requestType: 'multipart/form-data' };
  if (typeof body === 'string') return { request: JSON.parse(body), requestType: 'application/json' };
  return { request: null, requestType: null };
}

/** Kept: a test may put the recording one in its place. */
const send = fetch;

/** A `fetch` that remembers what went over it. */
export function recordingFetch(recorded: Recorded[]): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    // An SDK asks so whether `fetch` can read forms.
    if (url.protocol === 'data:') return send(input, init);
    const response = await send(input, { ...init, redirect: 'manual' });
    const answer = Buffer.from(await response.arrayBuffer());
    recorded.push({
      method: init.method ?? 'GET',
      path: url.pathname,
      ...requestOf(init.body),
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      answer: answer.toString('utf8'),
    });
    return new Response(answer.length === 0 ? null : answer, { status: response.status, headers: response.headers });
  };
}
