/** How sessions end: which close code says what (RFC 6455 7.4, IANA's registry of close codes). */
import type { OutcomeKind } from '../../contract/usage.ts';
import { GatewayError } from '../../errors.ts';
import { cleanMessage } from '../../upstream/failure.ts';

const closeCodes = { normal: 1000, goingAway: 1001, abnormal: 1006, failed: 1011 } as const;

/** A close frame holds so many bytes beside its code. */
const longestReason = 123;

/** 1004 to 1006 and 1015 stand for what never came over the wire; 1010 is a client's alone. */
export function isSendable(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1010 && (code < 1004 || code > 1006);
}

/** The close code for an error of the gateway's own. */
function codeFor({ code, status }: GatewayError): number {
  if (code === 'session_expired' || code === 'shutting_down') return closeCodes.goingAway;
  if (code === 'unsupported_content_type') return 1003;
  if (code === 'body_too_large') return 1009;
  if (code === 'overloaded') return 1013;
  return status < 500 ? 1008 : closeCodes.failed;
}

/** Cut to what a close frame holds, never within a character. */
function reasonOf(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestReason) return text;
  let end = longestReason;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

interface Close {
  readonly code: number;
  readonly reason: string;
}

/** How a session ends: what each side hears, and what the usage log says. */
export interface Finish {
  readonly kind: Exclude<OutcomeKind, 'accepted'>;
  readonly error: GatewayError | null;
  /** Null: the client is gone, or has closed by itself. */
  readonly client: Close | null;
  /** Null: the vendor is gone, or has closed by itself. */
  readonly vendor: Close | null;
  /** The vendor broke the session off. */
  readonly isVendorFault?: boolean;
}

const normal: Close = { code: closeCodes.normal, reason: '' };
const away: Close = { code: closeCodes.goingAway, reason: '' };

/** The gateway ends it. */
export const refusedSession = (error: GatewayError, kind: 'ok' | 'error'): Finish => ({
  kind,
  error,
  client: { code: codeFor(error), reason: reasonOf(error.message) },
  vendor: normal,
});

/** `why` is for the log. */
export function brokenSession(why: string): Finish {
  const error = new GatewayError('upstream_error', 'The vendor broke the session off.', { cause: why });
  const client = { code: closeCodes.failed, reason: error.message };
  return { kind: 'error', error, client, vendor: normal, isVendorFault: true };
}

/** The vendor closed with a code that is handed on, and its words, but for what may be a credential. */
export function closedByVendor(code: number, said: string): Finish {
  const reason = reasonOf(cleanMessage(said));
  const error = code === closeCodes.normal ? null : new GatewayError('upstream_error', reason || undefined);
  // 1011 to 1014: its own failure, a restart, overload, a bad gateway.
  const isVendorFault = code >= closeCodes.failed && code <= 1014;
  return { kind: error === null ? 'ok' : 'error', error, client: { code, reason }, vendor: null, isVendorFault };
}

export const abandonedSession: Finish = { kind: 'aborted', error: null, client: null, vendor: away };

/** A code that no client may send stands for one that it did not send. */
export function closedByClient(code: number, reason: string): Finish {
  if (code === closeCodes.abnormal) return abandonedSession;
  const vendor = isSendable(code) ? { code, reason } : { code: 0, reason: '' };
  return { kind: 'ok', error: null, client: null, vendor };
}
