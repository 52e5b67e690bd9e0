import { jsonAnswer } from '../../answers.ts';
import { isRecord } from '../../checks.ts';
import { type Answer, type Call, Refused } from '../../contract.ts';
import { bearerToken, judgeCredential } from '../../credentials.ts';

const BY_STATUS: Record<number, string> = {
  400: 'Bad request',
  401: 'Invalid API key',
  402: 'Insufficient account balance',
  403: 'Forbidden',
  404: 'Not Found',
  422: 'Unprocessable Entity',
  429: 'Rate limit exceeded. Please try again later.',
  503: 'Service unavailable. Please try again later.',
};

/** `{"detail"}`. */
export function jinaError(status: number, detail?: string, retryAfter?: number): Answer {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return jsonAnswer(status, { detail: detail ?? BY_STATUS[status] ?? 'Internal server error' }, headers);
}

export function refuse(status: number, detail: string): never {
  throw new Refused(jinaError(status, detail));
}

export function authorize(call: Call): void {
  const verdict = judgeCredential(bearerToken(call.headers.authorization));
  if (verdict === 'missing') refuse(401, 'Authentication is required: no API key was given.');
  if (verdict === 'bad') refuse(401, 'Invalid API key');
  if (verdict === 'exhausted') refuse(402, 'Insufficient account balance');
}

/** The JSON object of a body, or the refusal for anything else. */
export function jsonBody(call: Call): Record<string, unknown> {
  if (call.body.kind === 'json' && isRecord(call.body.value)) return call.body.value;
  return refuse(422, 'The body must be a JSON object.');
}

export function refuseModel(call: Call, models: readonly string[]): void {
  if (call.model === undefined) refuse(422, "Missing required parameter: 'model'.");
  if (!models.includes(call.model!)) refuse(404, `Model '${call.model}' not found`);
}
