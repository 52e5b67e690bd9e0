/**
 * Signed thoughts beside the plain text of `reasoning_content`: entries of `reasoning_details`, as clients of gateways
 * know them. A client returns them untouched with the message.
 */
import {
  type ChatPart,
  isObject,
  type JsonObject,
  type JsonValue,
  shownSignature,
  signatureOf,
  signedBy,
} from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

type Thought = Extract<ChatPart, { type: 'reasoning' }>;

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

function thoughtOf(entry: JsonValue, read: (signature: string) => string): Thought[] {
  if (!isObject(entry)) return [];
  const signature = text(entry.signature) || text(entry.data);
  const said = text(entry.text) || text(entry.summary);
  if (signature === '' && said === '') return [];
  return [{ type: 'reasoning', text: said, signature: signature === '' ? null : read(signature) }];
}

/** What a client gave back; empty where it is no list of entries. */
export const decodeDetails = (value: JsonValue | undefined): Thought[] =>
  Array.isArray(value)
    ? value.flatMap((entry) => thoughtOf(entry, (signature) => signatureOf(protocolName, signature)))
    : [];

/** The signatures that a vendor put beside its text. */
export const vendorSignatures = (value: JsonValue | undefined): string[] =>
  Array.isArray(value)
    ? value
        .flatMap((entry) => thoughtOf(entry, (signature) => signedBy(protocolName, signature)))
        .flatMap(({ signature }) => signature ?? [])
    : [];

/** One thought; `signature` as it goes out. */
export const encodeDetail = (said: string, signature: string): JsonObject =>
  said === '' ? { type: 'reasoning.encrypted', data: signature } : { type: 'reasoning.text', text: said, signature };

export const shownDetail = (said: string, signature: string): JsonObject =>
  encodeDetail(said, shownSignature(protocolName, signature));
