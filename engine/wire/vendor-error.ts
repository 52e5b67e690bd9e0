/** What a vendor reports as an error or answers in a form that is none, in neutral words. */
import type { JsonObject } from '../contract/values.ts';
import type { VendorError } from '../contract/wire.ts';
import { GatewayError } from '../errors.ts';
import { isObject } from './openai/fields.ts';

/** An error of which no more is known than a sentence. */
export const plainError = (message: string): VendorError => ({
  message,
  code: null,
  type: null,
  param: null,
  retryAfter: null,
});

/** An error event within a vendor's stream, as a client is told of it. */
export function reportedError({ message, code, type, param }: VendorError): GatewayError {
  return new GatewayError('upstream_error', message, {
    param,
    ...(code === null ? {} : { shownCode: code }),
    ...(type === null ? {} : { type }),
  });
}

/** GatewayError `upstream_invalid_response`; `cause` is for the log alone. */
export const unusable = (cause: string): GatewayError =>
  new GatewayError('upstream_invalid_response', undefined, { cause });

/** The data of a stream's frame. Throws `upstream_invalid_response` where it is no JSON object. */
export function eventObject(data: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw unusable('an event of the stream is not JSON');
  }
  if (!isObject(value)) throw unusable('an event of the stream is no object');
  return value;
}
