/** One part of a content in neutral form. */
import { type ChatPart, type JsonObject, stringAt, stringOrNull, unsupported } from '../../../engine/plugin.ts';
import { messageAt } from './fields.ts';
import { mediaTypeOf } from './media-type.ts';
import { readSignature } from './signature.ts';

/** Text, thoughts and media; calls and results need their neighbours (`decode-contents.ts`). */
export function decodePart(part: JsonObject, place: string): ChatPart[] {
  const signature = signatureIn(part, place);
  if (part.text !== undefined) return decodeText(part, signature, place);
  const media = decodeMedia(part, place);
  if (media === null) throw unsupported(place, 'holds a part that cannot be carried to this model’s vendor.');
  return signature === null ? [media] : [media, { type: 'reasoning', text: '', signature }];
}

/** In neutral form; null where the part has none. */
export function signatureIn({ thoughtSignature }: JsonObject, place: string): string | null {
  const given = stringOrNull(thoughtSignature, `${place}.thoughtSignature`);
  return given === null || given === '' ? null : readSignature(given);
}

function decodeText(part: JsonObject, signature: string | null, place: string): ChatPart[] {
  const text = stringAt(part.text, `${place}.text`);
  if (part.thought === true) return [{ type: 'reasoning', text, signature }];
  const said: ChatPart[] = text === '' ? [] : [{ type: 'text', text }];
  return signature === null ? said : [...said, { type: 'reasoning', text: '', signature }];
}

function decodeMedia({ inlineData, fileData }: JsonObject, place: string): ChatPart | null {
  if (inlineData !== undefined) return decodeInline(messageAt(inlineData, `${place}.inlineData`), place);
  return fileData === undefined ? null : decodeFile(messageAt(fileData, `${place}.fileData`), place);
}

export function decodeInline({ mimeType, data, displayName }: JsonObject, place: string): ChatPart {
  const mediaType = stringAt(mimeType, `${place}.inlineData.mimeType`);
  const base64 = stringAt(data, `${place}.inlineData.data`);
  if (mediaType.startsWith('image/')) return { type: 'image', mediaType, data: base64, url: null };
  if (mediaType.startsWith('audio/')) return { type: 'audio', mediaType, data: base64 };
  const name = stringOrNull(displayName, `${place}.inlineData.displayName`);
  return { type: 'file', mediaType, name, data: base64, url: null, id: null };
}

function decodeFile({ mimeType, fileUri, displayName }: JsonObject, place: string): ChatPart {
  const url = stringAt(fileUri, `${place}.fileData.fileUri`);
  const mediaType = stringOrNull(mimeType, `${place}.fileData.mimeType`) ?? mediaTypeOf(url);
  if (mediaType?.startsWith('image/')) return { type: 'image', mediaType, data: null, url };
  const name = stringOrNull(displayName, `${place}.fileData.displayName`);
  return { type: 'file', mediaType, name, data: null, url, id: null };
}
