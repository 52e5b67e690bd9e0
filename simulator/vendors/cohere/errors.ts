import { jsonAnswer, nextId } from '../../answers.ts';
import { isRecord, type Problem } from '../../checks.ts';
import { type Answer, type Call, Refused } from '../../contract.ts';
import { bearerToken, judgeCredential } from '../../credentials.ts';

const BY_STATUS: Record<number, string> = {
  400: 'invalid request: please check the parameters',
  401: 'invalid api token',
  403: 'access to this resource is forbidden',
  404: 'the requested resource was not found',
  422: 'the request could not be processed',
  429: 'You are past the per minute request limit, please wait and try again later.',
  498: 'the request contains a token that is blocked',
  499: 'request cancelled',
  503: 'the service is unavailable, please try again later',
  504: 'timeout waiting for the model',
};

/** `{"id", "message"}`. */
export function cohereError(status: number, message?: string, retryAfter?: number): Answer {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const text = message ?? BY_STATUS[status] ?? 'internal server error, this is our fault';
  return jsonAnswer(status, { id: nextId('err-'), message: text }, { ...cohereHeaders(), ...headers });
}

/** Headers on every answer. */
export const cohereHeaders = (): Record<string, string> => ({ 'x-debug-trace-id': nextId('trace-') });

export function refuse(status: number, message: string): never {
  throw new Refused(cohereError(status, message));
}

export function refuseProblem(problem: Problem | undefined): void {
  if (problem?.code === 'unknown_parameter')
    refuse(400, `unknown field: parameter '${problem.param}' is not a valid field`);
  if (problem) refuse(400, `invalid request: ${problem.message}`);
}

export function authorize(call: Call): void {
  const verdict = judgeCredential(bearerToken(call.headers.authorization));
  if (verdict === 'missing') refuse(401, 'no api key supplied');
  if (verdict === 'bad') refuse(401, 'invalid api token');
  if (verdict === 'exhausted') refuse(402, 'please add or update your payment method');
}

/** The JSON object of a body, or the refusal for anything else. */
export function jsonBody(call: Call): Record<string, unknown> {
  if (call.body.kind === 'json' && isRecord(call.body.value)) return call.body.value;
  return refuse(400, 'invalid request: the body must be a JSON object');
}

/** Refuses a model that is not there or is of another kind. */
export function refuseModel(call: Call, models: readonly string[]): void {
  if (call.model === undefined) refuse(400, 'invalid request: model is required');
  if (models.includes(call.model!)) return;
  refuse(
    404,
    `model '${call.model}' not found, make sure the correct model ID was used and that you have access to the model.`,
  );
}
