/** What a client would be told. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Seconds of `Retry-After`. */
  readonly retryAfter: number | null;
}

/** By its name: a plugin may have the built GatewayError, the kit has the source's. Anything else is thrown again. */
export function asRefusal(thrown: unknown): Refusal {
  if (!(thrown instanceof Error) || thrown.name !== 'GatewayError') throw thrown;
  const { status, code, message, param, retryAfter } = thrown as Error & Refusal;
  return { status, code, message, param, retryAfter };
}
