/**
 * What stands in `encrypted_content`. Vendors put Base64 there, without a colon; what this gateway puts there names its
 * origin before one: another protocol's signature (`anthropic-messages:…`), the signature of a call, or a summary.
 */
import { isObject, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';

const summaryMark = 'gateway-compaction:';
const callMark = 'call-signature:';
/** Of a thought that nobody signed: a vendor of this protocol would look for the item in its own store. */
export const unsigned = 'unsigned-thought:';
const originMark = /^[a-z][a-z-]*:/;

/** A summary of the gateway's own making: any vendor may read it. */
export const sealSummary = (summary: string): string =>
  `${summaryMark}${Buffer.from(summary, 'utf8').toString('base64url')}`;

/** Null where a vendor made it. */
export function openSummary(content: JsonValue | undefined): string | null {
  if (typeof content !== 'string' || !content.startsWith(summaryMark)) return null;
  return Buffer.from(content.slice(summaryMark.length), 'base64url').toString('utf8');
}

/** A call's own signature travels as a thought before it: this protocol has no other place for it. */
export const sealCallSignature = (callId: string, signature: string): string =>
  `${callMark}${Buffer.from(JSON.stringify([callId, signature])).toString('base64url')}`;

/** Null where it is something else, or damaged. */
export function openCallSignature(content: string): readonly [callId: string, signature: string] | null {
  if (!content.startsWith(callMark)) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(content.slice(callMark.length), 'base64url').toString('utf8'));
    if (!Array.isArray(value) || typeof value[0] !== 'string' || typeof value[1] !== 'string') return null;
    return [value[0], value[1]];
  } catch {
    return null;
  }
}

/** What a vendor of this protocol did not make. */
const isForeign = (item: JsonValue): item is JsonObject =>
  isObject(item) && typeof item.encrypted_content === 'string' && originMark.test(item.encrypted_content);

/** Whether only the vendor account that made it can read it. */
export const isSealed = (content: string): boolean => content !== '' && !originMark.test(content);

/** How a summary is told to a model. */
export const summaryText = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;

/** The input as a vendor of this protocol understands it; null where nothing in it needs a change. */
export function nativeInput(input: JsonValue | undefined): JsonValue[] | null {
  if (!Array.isArray(input) || !input.some(isForeign)) return null;
  return input.flatMap((item): JsonValue[] => {
    if (!isForeign(item)) return [item];
    const summary = openSummary(item.encrypted_content);
    if (summary === null) return [];
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: summaryText(summary) }] }];
  });
}
