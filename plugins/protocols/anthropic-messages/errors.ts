/** Errors of this protocol, as its clients expect them and as its vendors report them. */
import {
  anthropicError,
  type GatewayError,
  isObject,
  type JsonValue,
  readOpenAiError,
  type VendorError,
} from '../../../engine/plugin.ts';

export const encodeStreamError = (error: GatewayError, requestId: string): string =>
  `event: error\ndata: ${JSON.stringify(anthropicError(error, requestId))}\n\n`;

/** Vendors that are like Anthropic leave members out: what OpenAI's reader takes for an error is one here too. */
export function decodeError(body: JsonValue): VendorError | null {
  const reported = readOpenAiError(body);
  if (reported === null || !isObject(body) || !isObject(body.error) || !isObject(body.error.details)) return reported;
  const { error_code } = body.error.details;
  return typeof error_code === 'string' ? { ...reported, code: error_code } : reported;
}
