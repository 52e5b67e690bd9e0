/** A body that must be one JSON object. */
import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import { hasMoreValues } from '../wire/json-size.ts';

/** Throws `unsupported_content_type` for a body that says it is something else. */
export function requireJson(contentType: string): void {
  if (
    contentType === '' ||
    contentType === 'application/json' ||
    /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType)
  )
    return;
  throw new GatewayError(
    'unsupported_content_type',
    `Send \`Content-Type: application/json\`, not \`${contentType.slice(0, 80)}\`.`,
  );
}

/** 32 MB of empty lists would keep the process busy for ten seconds; no conversation comes near this. */
const mostValues = 500_000;

/** Parses once; throws `invalid_utf8`, `invalid_json`, `invalid_type` or `body_too_large`. */
export function parseObject(body: Buffer): JsonObject {
  if (body.length === 0) throw new GatewayError('invalid_json', 'The body is empty; a JSON object is expected.');
  if (!isUtf8(body)) throw new GatewayError('invalid_utf8');
  if (hasMoreValues(body, mostValues))
    throw new GatewayError('body_too_large', `The body has more than ${mostValues.toLocaleString('en')} values.`);
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${place(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GatewayError('invalid_type', 'The body must be a JSON object.');
  return value as JsonObject;
}

/** V8's message quotes the body; only the place is handed on, or the one character. */
function place(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `it goes wrong at character ${position}.`;
  const token = /^Unexpected token '(.)'/su.exec(message)?.[1];
  if (token === '\uFEFF') return 'it begins with a byte order mark; leave that out.';
  return token === undefined ? 'it ends too early.' : `a ${JSON.stringify(token)} stands where none may.`;
}
