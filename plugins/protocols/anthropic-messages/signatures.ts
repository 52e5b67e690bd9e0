/** How thoughts that are no text travel as signatures, in both directions. */
import { type JsonValue, ownSignature, shownSignature, signedBy } from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

/** Base64 has no exclamation mark. */
const redacted = '!';
/** A tool call has no place for a signature here: a thought without text before it has. */
const ofCall = 'tool-call:';

export const redactedSignature = (data: string): string => signedBy(protocolName, redacted + data);

/** What another protocol's vendor put on a call, where this signature is one; null for a thought's own. */
export const callSignature = (signature: JsonValue | undefined): string | null =>
  typeof signature === 'string' && signature.startsWith(ofCall) ? signature.slice(ofCall.length) : null;

export const shownCallSignature = (signature: string): string => ofCall + signature;

/** A signed thought as a block for a client. */
export function shownThought(thinking: string, signature: string) {
  const shown = shownSignature(protocolName, signature);
  return shown.startsWith(redacted) && thinking === ''
    ? ({ type: 'redacted_thinking', data: shown.slice(1) } as const)
    : ({ type: 'thinking', thinking, signature: shown } as const);
}

/** The same for a vendor; null for a thought that another protocol's vendor signed, or nobody. */
export function ownThought(thinking: string, signature: string | null) {
  const own = ownSignature(protocolName, signature);
  if (own === null) return null;
  return own.startsWith(redacted)
    ? ({ type: 'redacted_thinking', data: own.slice(1) } as const)
    : ({ type: 'thinking', thinking, signature: own } as const);
}
