import { jsonAnswer, nextId } from '../../answers.ts';
import type { Problem } from '../../checks.ts';
import { type Answer, type Call, Refused } from '../../contract.ts';
import { bearerToken, judgeCredential, maskCredential } from '../../credentials.ts';

export interface OpenaiError {
  readonly message: string;
  /** Default `invalid_request_error`. */
  readonly type?: string;
  readonly param?: string | null;
  readonly code?: string | null;
  readonly moderation_details?: unknown;
}

/** Headers on every answer. */
export function openaiHeaders(): Record<string, string> {
  return {
    'x-request-id': nextId('req_'),
    'openai-organization': 'simulator',
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-tokens': '1999000',
    'x-ratelimit-reset-tokens': '30ms',
  };
}

export function openaiError(status: number, problem: OpenaiError, retryAfter?: number): Answer {
  const { message, type = 'invalid_request_error', param = null, code = null, ...rest } = problem;
  const headers =
    retryAfter === undefined ? openaiHeaders() : { ...openaiHeaders(), 'retry-after': String(retryAfter) };
  return jsonAnswer(status, { error: { message, type, param, code, ...rest } }, headers);
}

export function refuse(status: number, problem: OpenaiError): never {
  throw new Refused(openaiError(status, problem));
}

export function refuseProblem(problem: Problem | undefined): void {
  if (problem) refuse(400, problem);
}

const BY_STATUS: Record<number, OpenaiError> = {
  400: { message: 'The request was not understood.' },
  401: { message: 'Incorrect API key provided.', code: 'invalid_api_key' },
  403: { message: 'You do not have access to this resource.', code: null },
  404: { message: 'The requested resource does not exist.', code: 'model_not_found' },
  409: { message: 'The resource is locked by another request.', code: 'conflict' },
  413: { message: 'The request body is too large.' },
  422: { message: 'The request could not be processed.' },
  429: {
    message: 'Rate limit reached on requests per min (RPM): Limit 500, Used 500.',
    type: 'requests',
    code: 'rate_limit_exceeded',
  },
  503: {
    message: 'The server is currently overloaded. Please try again later.',
    type: 'server_error',
    code: 'server_is_overloaded',
  },
};

/** What OpenAI says with a status, for faults. */
export function statusError(status: number): OpenaiError {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return BY_STATUS[status] ?? { message: 'The server had an error while processing your request.', type };
}

export function authorize(call: Call): void {
  const token = bearerToken(call.headers.authorization);
  const verdict = judgeCredential(token);
  if (verdict === 'missing')
    refuse(401, {
      message:
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
    });
  if (verdict === 'bad')
    refuse(401, {
      message: `Incorrect API key provided: ${maskCredential(token ?? '')}.`,
      code: 'invalid_api_key',
    });
  if (verdict === 'exhausted')
    refuse(429, {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    });
}

/** The JSON object of a body, or the refusal for anything else. */
export function jsonBody(call: Call): Record<string, unknown> {
  const type = call.headers['content-type'] ?? '';
  if (!type.startsWith('application/json'))
    refuse(415, {
      message: `Unsupported content type: '${type}'. This API method only accepts 'application/json' requests.`,
      code: 'unsupported_content_type',
    });
  const { body } = call;
  if (body.kind === 'json' && typeof body.value === 'object' && body.value !== null && !Array.isArray(body.value))
    return body.value as Record<string, unknown>;
  return refuse(400, {
    message: 'We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.',
  });
}
