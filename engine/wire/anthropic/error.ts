/** Errors as Anthropic's API writes them. */
import type { JsonObject } from '../../contract/values.ts';
import type { GatewayError } from '../../errors.ts';

const typeByStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function typeOf({ code, status }: GatewayError): string {
  if (code === 'insufficient_quota') return 'billing_error';
  return typeByStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** `{"type":"error","error":{type,message},"request_id"}`; the message ends with the request id (spec 7). */
export function anthropicError(error: GatewayError, requestId: string): JsonObject {
  const message = `${error.message} (request id: ${requestId})`;
  return {
    type: 'error',
    error: { type: typeOf(error), message, details: { error_code: error.shownCode } },
    request_id: requestId,
  };
}
