/** Neutral parts as parts of a content. */
import { type ChatPart, imageTypeOf, type JsonObject, present, unsupported } from '../../../engine/plugin.ts';
import { mediaTypeOf } from './media-type.ts';
import { geminiSignature } from './signature.ts';

type Part<T extends ChatPart['type']> = Extract<ChatPart, { type: T }>;

/** Empty for what a vendor need not see; `place` names the field in an error. */
export function encodePart(part: ChatPart, place: string): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'reasoning':
      return encodeThought(part);
    case 'image':
      return [encodeImage(part, place)];
    case 'audio':
      return [encodeInline(part.mediaType, part.data)];
    case 'file':
      return [encodeFile(part, place)];
    default:
      throw unsupported(place, `cannot hold a part of the type ${part.type} here.`);
  }
}

/** A thought is worth something only with this vendor's own signature. */
function encodeThought({ text, signature }: Part<'reasoning'>): JsonObject[] {
  const thoughtSignature = geminiSignature(signature);
  if (thoughtSignature === null) return [];
  return [text === '' ? { text, thoughtSignature } : { text, thought: true, thoughtSignature }];
}

const encodeInline = (mimeType: string, data: string): JsonObject => ({ inlineData: { mimeType, data } });

/** Google fetches public files itself. */
function encodeImage({ mediaType, data, url }: Part<'image'>, place: string): JsonObject {
  return data === null
    ? encodeUrl(url ?? '', mediaType, place)
    : encodeInline(mediaType ?? imageTypeOf(data) ?? 'image/png', data);
}

function encodeUrl(fileUri: string, mediaType: string | null, place: string): JsonObject {
  if (!/^(https?|gs):\/\//i.test(fileUri)) throw unsupported(place, 'holds a URL that is neither http nor https.');
  return { fileData: present({ mimeType: mediaType ?? mediaTypeOf(fileUri), fileUri }) };
}

function encodeFile({ mediaType, name, data, url, id }: Part<'file'>, place: string): JsonObject {
  if (data !== null) return encodeInline(mediaType ?? mediaTypeOf(name ?? '') ?? 'application/pdf', data);
  if (url !== null) return encodeUrl(url, mediaType, place);
  throw unsupported(place, `holds the file ${id ?? ''} of another vendor, which this model’s vendor does not have.`);
}
