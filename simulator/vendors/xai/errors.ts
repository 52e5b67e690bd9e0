import { jsonAnswer } from '../../answers.ts';
import { type Answer, type Call, Refused } from '../../contract.ts';
import { bearerToken, judgeCredential, maskCredential } from '../../credentials.ts';

const CODES: Record<number, string> = {
  400: 'Client specified an invalid argument',
  401: 'The request does not have valid authentication credentials',
  403: 'The caller does not have permission to execute the specified operation',
  404: 'Some requested entity was not found',
  405: 'Client specified an invalid argument',
  415: 'Client specified an invalid argument',
  422: 'Client specified an invalid argument',
  429: 'Some resource has been exhausted',
  503: 'The service is currently unavailable',
};

const MESSAGES: Record<number, string> = {
  403: 'Your team does not have permission to perform this action.',
  429: 'Too many requests for team. Your team made 6 requests per second, the limit is 5.',
  503: 'The service is temporarily unavailable. Please retry.',
};

/** The common one of xAI's three error shapes: `{"code", "error"}`. */
export function xaiError(status: number, error?: string, retryAfter?: number): Answer {
  const code = CODES[status] ?? 'Internal error';
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return jsonAnswer(status, { code, error: error ?? MESSAGES[status] ?? 'Something went wrong.' }, headers);
}

export function refuseArgument(status: number, error: string): never {
  throw new Refused(xaiError(status, error));
}

/** The second shape: `{"error": "text"}`. */
export function refusePlain(error: string): never {
  throw new Refused(jsonAnswer(400, { error }));
}

/** The third shape, OpenAI's, for a model that is not there. */
export function refuseModel(model: string): never {
  const message = `The model ${model} does not exist or your team does not have access to it.`;
  const error = { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' };
  throw new Refused(jsonAnswer(404, { error }));
}

export const refuseNotFound = (error: string): never => refuseArgument(404, error);

/** A wrong key arrives as 400, not 401. */
export function authorize(call: Call): void {
  const token = bearerToken(call.headers.authorization);
  const verdict = judgeCredential(token);
  if (verdict === 'missing') refuseArgument(401, 'No API key found in the Authorization header.');
  if (verdict === 'bad')
    refuseArgument(
      400,
      `Incorrect API key provided: ${maskCredential(token ?? '')}. You can obtain an API key from the console.`,
    );
  if (verdict === 'exhausted')
    refuseArgument(429, 'Your team has either used all available credits or reached its monthly spending limit.');
}
