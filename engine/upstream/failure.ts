/** What went wrong with one attempt, in the words of the failover table, and what the client hears if it is the last. */

import type { FailureReason, FailureRule, VendorDefinition } from '../contract/vendor.ts';
import type { VendorError } from '../contract/wire.ts';
import { type ErrorCode, GatewayError } from '../errors.ts';
import type { TransportFailure } from './transport.ts';

export interface Failure {
  readonly reason: FailureReason;
  /** The vendor's status; 0 where none came. */
  readonly status: number;
  /** For the log only. */
  readonly message: string;
  /** Seconds. */
  readonly retryAfter: number | null;
  readonly error: GatewayError;
  /** Nothing rests for it. */
  readonly spares?: true;
}

/** The key of the failover table. */
export function failoverKey(failure: Failure): string {
  return failure.reason === 'status' ? String(failure.status) : failure.reason;
}

const longestMessage = 1000;

/** A vendor's sentence, bounded, without anything that looks like a credential. */
export function cleanMessage(message: string): string {
  return message
    .replace(/\b(?:(?:sk|xai|key)-|jina_|AIza)[-_A-Za-z0-9*.]{8,}/g, '[redacted]')
    .replace(/\b(Bearer) [-_A-Za-z0-9*.~+/=]{8,}/gi, '$1 [redacted]')
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, longestMessage);
}

export function transportFailure(failure: TransportFailure): Failure {
  const code: ErrorCode = failure.reason === 'timeout' ? 'upstream_timeout' : 'upstream_unreachable';
  const message = failure.reason === 'reset' ? 'The connection to the vendor broke.' : undefined;
  return {
    reason: failure.reason,
    status: 0,
    message: failure.cause.message,
    retryAfter: null,
    error: new GatewayError(code, message, { cause: failure.cause }),
  };
}

export function malformed(message: string, status = 200): Failure {
  return {
    reason: 'malformed',
    status,
    message,
    retryAfter: null,
    error: new GatewayError('upstream_invalid_response', undefined, { cause: message }),
  };
}

/** How much a vendor answers is for the client to say: no fault of the channel. `sentence` tells the client how to go on. */
export const answerTooLarge = (sentence: string): Failure => ({
  reason: 'status',
  status: 413,
  message: 'the answer is too large',
  retryAfter: null,
  error: new GatewayError('body_too_large', sentence),
});

/** An error that a codec found in a 200: a refusal, an answer without an image, something unreadable. */
export function codecFailure(error: GatewayError): Failure {
  const reason =
    error.code === 'moderation_blocked' ? 'moderation' : error.code === 'upstream_no_image' ? 'no-image' : 'malformed';
  return { reason, status: 200, message: error.message, retryAfter: null, error };
}

/** An error inside a 200 counts as what it would have been as a status: what the client did is no fault of the channel. */
const statusOf = (status: number, reported: VendorError | null): number =>
  status < 400 && reported?.type === 'invalid_request_error' ? 400 : status;

/** An error status, or an error object inside a 200. `reported` is null where the body was no error the protocol knows. */
export function vendorFailure(
  vendor: VendorDefinition,
  answered: number,
  reported: VendorError | null,
  retryAfter: number | null,
): Failure {
  const status = statusOf(answered, reported);
  const message = cleanMessage(reported?.message ?? `status ${status} without a readable error`);
  const wait = retryAfter ?? reported?.retryAfter ?? null;
  const rule = reported === null ? undefined : vendor.failures?.find((one) => matches(one, status, reported));
  const reason =
    rule?.reason ?? (status === 401 || status === 402 ? 'credential' : status < 400 ? 'malformed' : 'status');
  const meant = rule?.as ?? status;
  const error = clientError(reason, meant, message, reported, wait);
  return { reason, status: meant, message, retryAfter: wait, error, ...(rule?.spares && { spares: true }) };
}

function matches(rule: FailureRule, status: number, reported: VendorError): boolean {
  if (rule.status !== undefined && ![rule.status].flat().includes(status)) return false;
  if (rule.text !== undefined && !rule.text.test(reported.message)) return false;
  if (rule.code === undefined) return true;
  const codes = [rule.code].flat();
  return (
    (reported.code !== null && codes.includes(reported.code)) ||
    (reported.type !== null && codes.includes(reported.type))
  );
}

/** A vendor's code that a client may match on; xAI writes whole sentences there. */
const isCodeWord = (code: string | null | undefined): boolean =>
  /^[\w.:-]{1,100}$/.test(code ?? '') && cleanMessage(code!) === code;

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'vendor_refused_request',
  403: 'vendor_refused_request',
  404: 'vendor_refused_request',
  408: 'upstream_timeout',
  409: 'vendor_refused_request',
  415: 'upstream_invalid_response',
  422: 'unprocessable',
  429: 'upstream_rate_limited',
  503: 'upstream_overloaded',
  504: 'upstream_timeout',
  529: 'upstream_overloaded',
};

function clientError(
  reason: FailureReason,
  status: number,
  message: string,
  reported: VendorError | null,
  retryAfter: number | null,
): GatewayError {
  const wait = retryAfter === null ? {} : { retryAfter: Math.ceil(retryAfter) };
  // The account's troubles are the operator's business: the client hears neither a 401 nor the vendor's words.
  if (reason === 'credential')
    return new GatewayError('upstream_error', 'The vendor refused the gateway’s account. The operator was told.', {
      cause: message,
    });
  if (reason === 'moderation') return new GatewayError('moderation_blocked', message, { cause: message });
  if (status === 429) return new GatewayError('upstream_rate_limited', undefined, { ...wait, cause: message });
  if (status === 413)
    return new GatewayError('body_too_large', 'The request is larger than the vendor takes.', { cause: message });
  const code = codeByStatus[status] ?? (status >= 400 && status < 500 ? 'vendor_refused_request' : 'upstream_error');
  if (code !== 'vendor_refused_request' && code !== 'unprocessable')
    return new GatewayError(code, undefined, { ...wait, cause: message });
  return new GatewayError(code, message, {
    ...wait,
    status,
    param: reported?.param ? cleanMessage(reported.param) : null,
    ...(isCodeWord(reported?.code) ? { shownCode: reported!.code! } : {}),
  });
}
