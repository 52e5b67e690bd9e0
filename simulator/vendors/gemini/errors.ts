import { type Answer, type Call, Refused } from '../../contract.ts';
import { judgeCredential } from '../../credentials.ts';
import { geminiAnswer } from './answer.ts';

/** A google.rpc.Status, less the numbers. */
export interface GeminiError {
  readonly message: string;
  readonly details?: readonly object[];
}

const STATUS_NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const MESSAGES: Record<number, string> = {
  429: 'Resource has been exhausted (e.g. check quota).',
  500: 'An internal error has occurred. Please retry or report.',
  503: 'The model is overloaded. Please try again later.',
  504: 'Deadline expired before operation could complete.',
};

const TYPE = 'type.googleapis.com/google.rpc.';

/** A stream that is not SSE is a JSON array, and so is its error. */
export function geminiError(status: number, problem: GeminiError, call: Call): Answer {
  const error = {
    code: status,
    message: problem.message,
    status: STATUS_NAMES[status] ?? 'UNKNOWN',
    ...detailsOf(problem),
  };
  const asArray = call.path.endsWith(':streamGenerateContent') && call.query.get('alt') !== 'sse';
  return geminiAnswer(status, asArray ? [{ error }] : { error });
}

export function refuse(status: number, problem: GeminiError, call: Call): never {
  throw new Refused(geminiError(status, problem, call));
}

/** What Gemini says with a status, for faults; a wait goes into RetryInfo, not into a header. */
export function statusError(status: number, retryAfter?: number): GeminiError {
  const message = MESSAGES[status] ?? `The request failed with status ${status}.`;
  if (retryAfter === undefined) return { message };
  return { message, details: [{ '@type': `${TYPE}RetryInfo`, retryDelay: `${retryAfter}s` }] };
}

export interface Violation {
  /** Snake case, as Google names fields in errors: `generation_config.image_config`. */
  readonly field: string;
  readonly description: string;
}

export function refuseViolations(violations: readonly Violation[], call: Call): void {
  if (violations.length === 0) return;
  const message = violations.map(({ description }) => description).join('\n');
  refuse(400, { message, details: [{ '@type': `${TYPE}BadRequest`, fieldViolations: violations }] }, call);
}

export function refuseField(field: string, description: string, call: Call): never {
  refuseViolations([{ field, description }], call);
  throw new Error('unreachable');
}

export function authorize(call: Call): void {
  const header = call.headers['x-goog-api-key'];
  const key = typeof header === 'string' && header !== '' ? header : (call.query.get('key') ?? undefined);
  const verdict = judgeCredential(key);
  if (verdict === 'missing')
    refuse(
      403,
      {
        message:
          "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
      },
      call,
    );
  if (verdict === 'bad')
    refuse(
      400,
      {
        message: 'API key not valid. Please pass a valid API key.',
        details: [
          {
            '@type': `${TYPE}ErrorInfo`,
            reason: 'API_KEY_INVALID',
            domain: 'googleapis.com',
            metadata: { service: 'generativelanguage.googleapis.com' },
          },
        ],
      },
      call,
    );
  if (verdict === 'exhausted')
    refuse(
      429,
      {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        details: [
          {
            '@type': `${TYPE}QuotaFailure`,
            violations: [
              {
                quotaMetric: 'generativelanguage.googleapis.com/generate_requests',
                quotaId: 'GenerateRequestsPerDayPerProjectPerModel',
              },
            ],
          },
        ],
      },
      call,
    );
}

function detailsOf({ details }: GeminiError): { details?: readonly object[] } {
  return details === undefined ? {} : { details };
}
