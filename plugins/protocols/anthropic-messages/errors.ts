/** Errors of this protocol, as its clients expect them and as its vendors report them. */
import {
  type GatewayError,
  isObject,
  type JsonObject,
  type JsonValue,
  readOpenAiError,
  type VendorError,
} from '../../../engine/plugin.ts';

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
export function encodeError(error: GatewayError, requestId: string): JsonObject {
  const message = `${error.message} (request id: ${requestId})`;
  return {
    type: 'error',
    error: { type: typeOf(error), message, details: { error_code: error.shownCode } },
    request_id: requestId,
  };
}

export const encodeStreamError = (error: GatewayError, requestId: string): string =>
  `event: error\ndata: ${JSON.stringify(encodeError(error, requestId))}\n\n`;

/** Vendors that are like Anthropic leave members out: what OpenAI's reader takes for an error is one here too. */
export function decodeError(body: JsonValue): VendorError | null {
  const reported = readOpenAiError(body);
  if (reported === null || !isObject(body) || !isObject(body.error) || !isObject(body.error.details)) return reported;
  const { error_code } = body.error.details;
  return typeof error_code === 'string' ? { ...reported, code: error_code } : reported;
}
