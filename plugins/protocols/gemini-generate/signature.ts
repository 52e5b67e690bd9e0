/**
 * Signatures of thoughts towards Gemini's clients. Their types say bytes in Base64, so one that another protocol's vendor
 * made is shown as the Base64 of its neutral form.
 */
import { type ChatPart, ownSignature, signedBy } from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

type Signed = Extract<ChatPart, { type: 'reasoning' }>['signature'];

/** Google's documented word for a call that no model of theirs has signed. */
export const unsigned = 'skip_thought_signature_validator';

const foreign = /^[a-z]+(?:-[a-z]+)+:[\x21-\x7e]+$/;

/** What a client gave back, in neutral form. */
export function readSignature(given: string): string {
  const text = Buffer.from(given, 'base64').toString('latin1');
  return foreign.test(text) ? text : signedBy(protocolName, given);
}

export const shownSignature = (signature: string): string =>
  ownSignature(protocolName, signature) ?? Buffer.from(signature, 'latin1').toString('base64');

/** Of a Gemini vendor's own making, in its own words; null for any other. */
export const geminiSignature = (signature: Signed | undefined): string | null => ownSignature(protocolName, signature);
