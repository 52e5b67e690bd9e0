import { jsonAnswer, nextId } from '../../answers.ts';
import { isRecord } from '../../checks.ts';
import { type Answer, type Call, Refused } from '../../contract.ts';
import { bearerToken, judgeCredential } from '../../credentials.ts';

export interface AnthropicError {
  /** Default `invalid_request_error`. */
  readonly type?: string;
  readonly message: string;
}

/** Sampling parameters are gone from the newer one. */
export const OLD_VERSION = '2023-06-01';
const VERSIONS = [OLD_VERSION, '2026-10-21'];
const BODY_LIMIT = 32 * 1024 * 1024;
const BETA = /^[a-z0-9-]+-\d{4}-\d{2}-\d{2}$/;

/** Headers on every answer. */
export function anthropicHeaders(requestId = nextId('req_')): Record<string, string> {
  return {
    'request-id': requestId,
    'anthropic-organization-id': 'simulator',
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': new Date(Date.now() + 1000).toISOString(),
  };
}

export function anthropicError(status: number, problem: AnthropicError, retryAfter?: number): Answer {
  const requestId = nextId('req_');
  const headers = anthropicHeaders(requestId);
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  return jsonAnswer(status, errorBody(problem, requestId), headers);
}

export function errorBody({ type = 'invalid_request_error', message }: AnthropicError, requestId: string): object {
  return { type: 'error', error: { type, message }, request_id: requestId };
}

export function refuse(status: number, problem: AnthropicError): never {
  throw new Refused(anthropicError(status, problem));
}

export function refuseProblem(message: string | undefined): void {
  if (message !== undefined) refuse(400, { message });
}

const BY_STATUS: Record<number, AnthropicError> = {
  400: { message: 'The request was not understood.' },
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  402: { type: 'billing_error', message: 'There is an issue with your billing or payment information.' },
  403: { type: 'permission_error', message: 'Your API key does not have permission to use the specified resource.' },
  404: { type: 'not_found_error', message: 'Not found' },
  409: { type: 'conflict_error', message: 'The request conflicts with the state of the resource.' },
  413: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  429: { type: 'rate_limit_error', message: "This request would exceed your organization's rate limit." },
  504: { type: 'timeout_error', message: 'The request timed out.' },
  529: { type: 'overloaded_error', message: 'Overloaded' },
};

/** What Anthropic says with a status, for faults. */
export function statusError(status: number): AnthropicError {
  if (BY_STATUS[status]) return BY_STATUS[status];
  return status >= 500 ? { type: 'api_error', message: 'Internal server error' } : { message: 'Bad request' };
}

/** The key first, then the version header, then the values of the beta header. */
export function authorize(call: Call): void {
  const header = call.headers['x-api-key'];
  const key = typeof header === 'string' && header !== '' ? header : bearerToken(call.headers.authorization);
  const verdict = judgeCredential(key?.replace(/^sk-ant-(?:api\d\d-|oat\d\d-)?/, ''));
  if (verdict === 'missing') refuse(401, { type: 'authentication_error', message: 'x-api-key header is required' });
  if (verdict === 'bad') refuse(401, { type: 'authentication_error', message: 'invalid x-api-key' });
  if (verdict === 'exhausted')
    refuse(400, {
      message:
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    });
  const version = call.headers['anthropic-version'];
  if (version === undefined) refuse(400, { message: 'anthropic-version: header is required' });
  if (!VERSIONS.includes(String(version)))
    refuse(400, { message: `anthropic-version: "${version}" is not a valid version` });
  const wrong = betasOf(call).find((beta) => !BETA.test(beta));
  if (wrong !== undefined)
    refuse(400, { message: `Unexpected value(s) \`${wrong}\` for the \`anthropic-beta\` header.` });
}

/** The names in the `anthropic-beta` header. */
export function betasOf(call: Call): string[] {
  const names = String(call.headers['anthropic-beta'] ?? '').split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** The JSON object of a body, or the refusal for anything else. */
export function jsonBody(call: Call): Record<string, unknown> {
  const { body } = call;
  if (Number(call.headers['content-length'] ?? 0) > BODY_LIMIT) refuse(413, BY_STATUS[413]!);
  if (!call.headers['content-type']?.startsWith('application/json'))
    refuse(400, { message: 'content-type: must be application/json' });
  if (body.kind === 'broken') refuse(400, { message: `The request body is not valid JSON: ${body.reason}` });
  if (body.kind === 'json' && isRecord(body.value)) return body.value;
  return refuse(400, { message: 'Input should be an object' });
}
