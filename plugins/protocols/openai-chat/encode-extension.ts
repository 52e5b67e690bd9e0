/** What OpenAI itself has no place for, where other vendors of this protocol put it and clients look for it. */
import { type ChatEvent, dataUrl, type JsonObject } from '../../../engine/plugin.ts';

/** A picture beside the text, as a data URL. */
export function encodeImage({ mediaType, data }: Extract<ChatEvent, { type: 'image' }>): JsonObject {
  return { type: 'image_url', image_url: { url: dataUrl(mediaType, data) } };
}

/** The signature of a thought must come back with the call; clients return `extra_content` untouched. */
export function encodeSignature(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}
