/**
 * The table of error codes: code → HTTP status, OpenAI error type, whether a client may retry, and the sentence used
 * when the place that throws has nothing more precise to say (spec section 7). `docs/errors.md` is generated from it.
 */
interface ErrorEntry {
  readonly status: number;
  readonly type: string;
  readonly retryable: boolean;
  readonly sentence: string;
}

const entry = (status: number, type: string, retryable: boolean, sentence: string): ErrorEntry => ({
  status,
  type,
  retryable,
  sentence,
});

const invalid = (status: number, sentence: string) => entry(status, 'invalid_request_error', false, sentence);

export const errorTable = {
  invalid_json: invalid(400, 'The body is not valid JSON. Check quotes, commas and the encoding.'),
  invalid_utf8: invalid(400, 'The body is not valid UTF-8.'),
  invalid_type: invalid(400, 'A field has the wrong type.'),
  invalid_value: invalid(400, 'A field has a value that is not allowed.'),
  missing_required_parameter: invalid(400, 'A required field is missing.'),
  unsupported_parameter: invalid(400, 'This model does not support a field that was sent. Remove it.'),
  conflicting_parameters: invalid(400, 'Two fields contradict each other. Send only one of them.'),
  missing_image: invalid(400, 'Image edits need multipart/form-data with at least one file in the field `image`.'),
  too_many_images: invalid(400, 'There are more reference images than this model accepts.'),
  invalid_multipart: invalid(400, 'The multipart body is damaged or incomplete.'),
  incomplete_body: invalid(400, 'The body ended before its announced length.'),
  unsupported_endpoint: invalid(400, 'This model cannot be used on this route.'),
  vendor_refused_request: invalid(400, 'The vendor refused the request. Read the message and mend the named field.'),
  context_length_exceeded: invalid(400, 'The conversation is longer than the model accepts. Shorten it.'),
  moderation_blocked: entry(400, 'image_generation_user_error', false, 'The request was refused by the safety system.'),
  content_policy_violation: invalid(400, 'The request was refused by the safety system.'),
  missing_api_key: invalid(401, 'No API key. Send `Authorization: Bearer sk-…` or `x-api-key: sk-…`.'),
  malformed_api_key: invalid(401, 'The API key is malformed. Keys start with `sk-` and have 51 characters.'),
  invalid_api_key: invalid(401, 'The API key is unknown. Check that it was copied whole.'),
  disabled_api_key: invalid(401, 'The API key is disabled.'),
  expired_api_key: invalid(401, 'The API key has expired.'),
  account_disabled: invalid(401, 'The account of this API key is disabled.'),
  model_not_allowed: entry(403, 'permission_error', false, 'This key may not use this model. See GET /v1/models.'),
  invalid_url_signature: entry(403, 'permission_error', false, 'The signature of this URL is missing or wrong.'),
  url_expired: entry(403, 'permission_error', false, 'This URL has expired. Download images at once, or ask again.'),
  model_not_found: invalid(404, 'The model does not exist. See GET /v1/models.'),
  unknown_url: invalid(404, 'Unknown route.'),
  object_not_found: invalid(404, 'The object does not exist.'),
  video_not_found: invalid(404, 'The video does not exist. See GET /v1/videos.'),
  method_not_supported: invalid(405, 'This route does not support the method.'),
  session_expired: entry(408, 'invalid_request_error', true, 'The session has reached its longest duration.'),
  request_timeout: entry(408, 'timeout_error', true, 'The body was not received in time.'),
  idempotency_conflict: entry(409, 'conflict_error', false, 'This Idempotency-Key was used with another body.'),
  video_not_ready: entry(409, 'conflict_error', true, 'The video is not ready. Poll it until its file is stored.'),
  video_not_finished: entry(409, 'conflict_error', true, 'The video is still being made.'),
  body_too_large: invalid(413, 'The body is too large for this route.'),
  unsupported_content_type: invalid(415, 'The content type is not supported by this route.'),
  upgrade_required: invalid(400, 'This route is a WebSocket. Connect with `Upgrade: websocket`.'),
  unprocessable: invalid(422, 'The request could be parsed but makes no sense. Mend the named field.'),
  rate_limit_exceeded: entry(429, 'requests', true, 'Too many requests. Wait as long as Retry-After says.'),
  token_limit_exceeded: entry(429, 'tokens', true, 'Too many tokens per minute. Wait as long as Retry-After says.'),
  concurrency_limit_exceeded: entry(
    429,
    'requests',
    true,
    'Too many requests at the same time. Lower the concurrency.',
  ),
  insufficient_quota: entry(429, 'insufficient_quota', false, 'The balance does not cover this request. Top up.'),
  upstream_rate_limited: entry(429, 'requests', true, 'The vendor limits the rate. Wait as long as Retry-After says.'),
  internal_error: entry(
    500,
    'server_error',
    true,
    'The gateway failed. Try again; if it goes on, send us the request id.',
  ),
  upstream_error: entry(502, 'server_error', true, 'The vendor answered with an error.'),
  upstream_unreachable: entry(502, 'server_error', true, 'The vendor could not be reached.'),
  upstream_invalid_response: entry(502, 'server_error', true, 'The vendor answered something that cannot be used.'),
  upstream_no_image: entry(502, 'server_error', true, 'The vendor answered without an image. Nothing was charged.'),
  storage_failed: entry(502, 'server_error', true, 'The image could not be stored. Nothing was charged.'),
  no_channel_available: entry(
    503,
    'server_error',
    true,
    'No channel is available for this model now. Try again later.',
  ),
  overloaded: entry(503, 'server_error', true, 'The gateway is overloaded. Try again later.'),
  shutting_down: entry(503, 'server_error', true, 'The gateway is shutting down. Try again.'),
  upstream_overloaded: entry(503, 'server_error', true, 'The vendor is overloaded. Try again later.'),
  upstream_timeout: entry(504, 'timeout_error', true, 'The vendor did not answer in time.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorDetails {
  /** The field the error is about, as the client wrote it (`messages[1].content`). */
  readonly param?: string | null;
  /** Seconds for `Retry-After`. */
  readonly retryAfter?: number;
  /** What the log gets and the client does not. */
  readonly cause?: unknown;
  /** The status where it differs from the table (a vendor's 4xx handed on). */
  readonly status?: number;
  /** The error type where it differs from the table. */
  readonly type?: string;
  /** The code that the client sees where the vendor had a better one (`context_length_exceeded`). */
  readonly shownCode?: string;
}

/** An error with a code of the table: what a client is told. Anything else that is thrown becomes `internal_error`. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly retryable: boolean;
  readonly param: string | null;
  readonly retryAfter: number | null;
  /** What stands in the error body as `code`. */
  readonly shownCode: string;

  constructor(code: ErrorCode, message?: string, details: ErrorDetails = {}) {
    const entry: ErrorEntry = errorTable[code];
    super(message ?? entry.sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = details.status ?? entry.status;
    this.type = details.type ?? entry.type;
    this.retryable = entry.retryable;
    this.param = details.param ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.shownCode = details.shownCode ?? code;
  }
}

/** Whatever was thrown, as an error with a code; the original stays its cause for the log. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal_error', undefined, { cause: thrown });
}
