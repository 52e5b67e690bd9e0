import type { Answer, Call } from '../../contract.ts';
import type { RefusalKind } from '../../faults/fault.ts';
import { openaiError, statusError } from './errors.ts';

/**
 * The error event after `errorframe` events of a stream, in the form that `errorform` names: `failed` (default) is
 * `response.failed` with the response, `flat` the documented `error` event, `nested` the one seen in real traffic.
 */
export function responsesErrorFrame(call: Call, { frames }: Answer): string {
  const { message, type = 'server_error' } = statusError(500);
  const sequence_number = Math.min(call.fault.errorframe ?? 0, frames.length);
  const error = { code: 'server_error', message };
  if (call.fault.errorform === 'flat') return event('error', { sequence_number, ...error, param: null });
  if (call.fault.errorform === 'nested')
    return event('error', { error: { type, ...error, param: null }, sequence_number });
  const response = { ...openingOf(frames[0]?.bytes), status: 'failed', error };
  return event('response.failed', { sequence_number, response });
}

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

/** The response of `response.created`, so that the failed one has its id and settings. */
function openingOf(bytes: string | Buffer | undefined): object {
  const data = /^data: (.*)$/m.exec(bytes?.toString() ?? '')?.[1];
  return data === undefined ? {} : (JSON.parse(data) as { response: object }).response;
}

/** A refused prompt is a 400; every other refusal is in the answer already: a refusal part, a filter, or no output. */
export function responsesRefusal(kind: RefusalKind, answer: Answer): Answer {
  if (kind !== 'prompt') return answer;
  return openaiError(400, {
    message: 'Invalid prompt: your prompt was flagged as violating our usage policy.',
    code: 'invalid_prompt',
  });
}
