/** Errors of vendors, in every form in which they come, and as clients of this protocol get them. */
import {
  type GatewayError,
  isObject,
  type JsonObject,
  type JsonValue,
  openAiError,
  plainError,
  readOpenAiError,
  type VendorError,
} from '../../../engine/plugin.ts';
import { membersOf } from './fields.ts';

/** `{"error":…}`, or a response that has failed. */
export const decodeError = (body: JsonValue): VendorError | null => readOpenAiError(body);

/** An event of a stream: `response.failed`, or `error`, flat or with a nested object. */
export function eventError(event: JsonObject): VendorError {
  const failed = event.type === 'response.failed' ? membersOf(event.response).error : null;
  const error = isObject(failed) ? failed : isObject(event.error) ? event.error : event;
  const plain = plainError('The vendor reported a failure.');
  const read = readOpenAiError({ error: { ...error, type: error === event ? null : (error.type ?? null) } });
  return read === null || read.message === 'unknown error' ? { ...plain, ...read, message: plain.message } : read;
}

/**
 * An error within a stream. The documented event is flat; clients of earlier SDKs look for a nested object, so it has
 * both. Where the response is known it is said to have failed first: some coding agents wait for that alone.
 */
export function encodeStreamError(
  error: GatewayError,
  requestId: string,
  response: JsonObject | null,
  sequence: number,
): string {
  const body = openAiError(error, requestId).error;
  const { message, code, param } = body;
  const failed =
    response === null
      ? ''
      : eventFrame({
          type: 'response.failed',
          sequence_number: sequence,
          response: { ...response, status: 'failed', error: { code, message } },
        });
  const last = response === null ? sequence : sequence + 1;
  return failed + eventFrame({ type: 'error', sequence_number: last, code, message, param, error: body });
}

/** `type` names the event in its frame too. */
export const eventFrame = (event: JsonObject): string =>
  `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
