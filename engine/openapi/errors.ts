/** The errors of a route, one response for each status (spec 7). */
import type { Route } from '../contract/model.ts';
import { operationEntry } from '../contract/operations.ts';
import type { JsonObject } from '../contract/values.ts';
import { errorTable } from '../errors.ts';
import type { ErrorForm } from './entry.ts';
import { schemaReference } from './schemas.ts';

const meanings: Readonly<Record<number, string>> = {
  400: 'Body, parameter, protocol or model capability does not fit. Not to be repeated as it is.',
  401: 'The key is missing, unknown, disabled or expired.',
  403: 'The key may not do this.',
  404: 'There is no such thing, or not for this key.',
  408: 'The body did not come in time.',
  409: 'It contradicts the state of something.',
  413: 'The body is too large.',
  415: 'The type of the body is not supported here.',
  422: 'The request can be read but makes no sense.',
  429: 'A limit of rate, tokens, concurrency or credit, or the vendor’s. Wait as long as `Retry-After` says.',
  500: 'The gateway failed.',
  502: 'The vendor cannot be reached, or its answer cannot be used.',
  503: 'Nobody can serve this now.',
  504: 'The vendor did not answer in time.',
};

const ofReaders = [400, 401, 403, 404, 500, 503];
const ofBodies = [408, 413, 415];
const ofCalls = [400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504];

function statusesOf({ operation, method }: Route): number[] {
  const { capability } = operationEntry(operation);
  // Kept responses may be kept by their vendor, who is asked then.
  const usual = capability === null && !operation.startsWith('responses.') ? ofReaders : ofCalls;
  const body = method === 'POST' ? ofBodies : [];
  const state = operation === 'videos.content' ? [409] : [];
  return [...usual, ...body, ...state].sort((left, right) => left - right);
}

const nameOf = (form: ErrorForm, status: number): string => `${form}${status}`;

/** Status → reference to a response. */
export function errorReplies(route: Route, form: ErrorForm): JsonObject {
  const entries = statusesOf(route).map((status): [string, JsonObject] => [
    String(status),
    { $ref: `#/components/responses/${nameOf(form, status)}` },
  ]);
  return Object.fromEntries(entries);
}

/** Codes of signed files, which no route of the document serves. */
const ofFiles: ReadonlySet<string> = new Set(['invalid_url_signature', 'url_expired', 'object_not_found']);

function codesOf(status: number): string {
  const codes = Object.entries(errorTable).filter(([code, entry]) => entry.status === status && !ofFiles.has(code));
  return codes.map(([code]) => `\`${code}\``).join(', ');
}

function errorResponse(form: ErrorForm, status: number): JsonObject {
  const codes = codesOf(status);
  const retryAfter =
    status === 429 || status === 503 ? { 'retry-after': { $ref: '#/components/headers/RetryAfter' } } : {};
  return {
    description: `${meanings[status]}${codes === '' ? '' : ` Codes: ${codes}.`}`,
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' }, ...retryAfter },
    content: { 'application/json': { schema: schemaReference(form) } },
  };
}

/** All responses that `errorReplies` refers to for these forms. */
export function errorResponses(forms: ReadonlySet<ErrorForm>): JsonObject {
  const entries = [...forms].flatMap((form) =>
    Object.keys(meanings).map((status): [string, JsonObject] => [
      nameOf(form, Number(status)),
      errorResponse(form, Number(status)),
    ]),
  );
  return Object.fromEntries(entries);
}
