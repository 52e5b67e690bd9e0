/** How sessions end: which close code says what (RFC 6455 7.4, IANA's registry of close codes). */
import type { GatewayError } from '../../errors.ts';

export const closeCodes = { normal: 1000, goingAway: 1001, abnormal: 1006, failed: 1011 } as const;

/** A close frame holds so many bytes beside its code. */
const longestReason = 123;

/** 1004 to 1006 and 1015 stand for what never came over the wire; 1010 is a client's alone. */
export function isSendable(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1010 && (code < 1004 || code > 1006);
}

/** The close code for an error of the gateway's own. */
export function codeFor({ code, status }: GatewayError): number {
  if (code === 'session_expired' || code === 'shutting_down') return closeCodes.goingAway;
  if (code === 'unsupported_content_type') return 1003;
  if (code === 'body_too_large') return 1009;
  if (code === 'overloaded') return 1013;
  return status < 500 ? 1008 : closeCodes.failed;
}

/** Cut to what a close frame holds, never within a character. */
export function reasonOf(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestReason) return text;
  let end = longestReason;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
