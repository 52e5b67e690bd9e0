/** Neutral parts as content blocks of a user's turn or a tool's result. */
import { type ChatPart, imageTypeOf, type JsonObject, present, unsupported } from '../../../engine/plugin.ts';

type Part<T extends ChatPart['type']> = Extract<ChatPart, { type: T }>;

/** Texts that say nothing are refused by vendors: they are left out. `place` names the field in an error. */
export function encodeParts(parts: readonly ChatPart[], place: string): JsonObject[] {
  return parts.flatMap((part) => encodePart(part, place));
}

function encodePart(part: ChatPart, place: string): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return textBlocks(part.text);
    case 'image':
      return [{ type: 'image', source: imageSource(part, place) }];
    case 'file':
      return [encodeFile(part, place)];
    case 'audio':
      throw unsupported(place, 'holds audio, which this model’s vendor cannot hear.');
    default:
      throw unsupported(place, `cannot hold a part of the type ${part.type} here.`);
  }
}

export const textBlocks = (text: string): JsonObject[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

const imageTypes: Readonly<Record<string, string>> = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
};

function imageSource({ mediaType, data, url }: Part<'image'>, place: string): JsonObject {
  if (data === null) return { type: 'url', url: url ?? '' };
  const said = mediaType ?? imageTypeOf(data) ?? '';
  const type = said.toLowerCase();
  if (!Object.hasOwn(imageTypes, type))
    throw unsupported(place, 'holds an image that is neither JPEG, PNG, GIF nor WebP.');
  return { type: 'base64', media_type: imageTypes[type]!, data };
}

const pdf = 'application/pdf';
/** `%PDF` */
const pdfBegins = 'JVBER';

function encodeFile({ mediaType, name, data, url, id }: Part<'file'>, place: string): JsonObject {
  if (id !== null) throw unsupported(place, 'names a file that another vendor keeps.');
  if (data === null) return document({ type: 'url', url: url ?? '' }, name);
  const type = mediaType ?? (data.startsWith(pdfBegins) ? pdf : '');
  if (type === pdf) return document({ type: 'base64', media_type: pdf, data }, name);
  if (type.startsWith('text/')) {
    const text = Buffer.from(data, 'base64').toString('utf8');
    return document({ type: 'text', media_type: 'text/plain', data: text }, name);
  }
  if (type.startsWith('image/'))
    return { type: 'image', source: imageSource({ type: 'image', mediaType: type, data, url: null }, place) };
  throw unsupported(place, 'holds a file that is neither PDF, text nor an image.');
}

const document = (source: JsonObject, name: string | null): JsonObject => ({
  type: 'document',
  source,
  ...present({ title: name || null }),
});
