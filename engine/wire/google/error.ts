/** Errors as Google's APIs write them: google.rpc.Status in JSON, in both directions. */
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import type { GatewayError } from '../../errors.ts';
import { isObject } from '../openai/fields.ts';

const typeOf = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

const statusWords: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  504: 'DEADLINE_EXCEEDED',
};

const wordOf = (status: number): string => statusWords[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE');

/** Google has one reason for every key that does not open; the gateway's own code stands beside it. */
function reasonOf({ status, shownCode }: GatewayError): string {
  return status === 401 ? 'API_KEY_INVALID' : shownCode.replace(/\W+/g, '_').toUpperCase();
}

/** `{"error":{code,message,status,details}}`; the message ends with the request id (spec 7). */
export function googleError(error: GatewayError, requestId: string): { readonly error: JsonObject } {
  const { status, param, retryAfter, shownCode } = error;
  const details: JsonObject[] = [
    {
      '@type': typeOf('ErrorInfo'),
      reason: reasonOf(error),
      domain: 'googleapis.com',
      metadata: { code: shownCode, requestId },
    },
  ];
  if (param !== null) {
    const fieldViolations = [{ field: param, description: error.message }];
    details.push({ '@type': typeOf('BadRequest'), fieldViolations });
  }
  if (retryAfter !== null) details.push({ '@type': typeOf('RetryInfo'), retryDelay: `${retryAfter}s` });
  const message = `${error.message} (request id: ${requestId})`;
  return { error: { code: status, message, status: wordOf(status), details } };
}

const text = (value: JsonValue | undefined, maximum: number): string | null =>
  typeof value === 'string' ? value.slice(0, maximum) : null;

/** `17s` or `3.5s`, in whole seconds upward. */
function secondsOf(delay: JsonValue | undefined): number | null {
  const match = /^(\d{1,6}(?:\.\d+)?)s$/.exec(text(delay, 20) ?? '');
  return match ? Math.ceil(Number(match[1])) : null;
}

/** Bare or in a list; the reason of ErrorInfo is the code, the status word the type. Null for anything else. */
export function readGoogleError(body: JsonValue): VendorError | null {
  const value = Array.isArray(body) ? body[0] : body;
  if (!isObject(value) || !isObject(value.error)) return null;
  const { error } = value;
  const details = Array.isArray(error.details) ? error.details.filter(isObject) : [];
  const detail = (kind: string) => details.find((entry) => text(entry['@type'], 200)?.endsWith(`.${kind}`));
  const violations = detail('BadRequest')?.fieldViolations;
  const [violation] = Array.isArray(violations) ? violations.filter(isObject) : [];
  return {
    message: text(error.message, 1000) ?? 'The vendor reported an error.',
    code: text(detail('ErrorInfo')?.reason, 100),
    type: text(error.status, 100),
    param: text(violation?.field, 100),
    retryAfter: secondsOf(detail('RetryInfo')?.retryDelay),
  };
}
