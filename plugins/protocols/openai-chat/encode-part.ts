/** Neutral parts as content of a message. */
import {
  type ChatPart,
  dataUrl,
  imageUrl,
  type JsonObject,
  type JsonValue,
  unsupported,
} from '../../../engine/plugin.ts';

type Part<T extends ChatPart['type']> = Extract<ChatPart, { type: T }>;

/** One text stands as a plain string, as clients write it; `place` names the field in an error. */
export function encodeContent(parts: readonly ChatPart[], place: string): JsonValue {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.map((part) => encodePart(part, place));
}

function encodePart(part: ChatPart, place: string): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: imageUrl(part), ...(part.detail ? { detail: part.detail } : {}) } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: audioFormat(part, place) } };
    case 'file':
      return { type: 'file', file: encodeFile(part, place) };
    default:
      throw unsupported(place, `cannot hold a part of the type ${part.type} here.`);
  }
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
};

function audioFormat({ mediaType }: Part<'audio'>, place: string): string {
  if (Object.hasOwn(audioFormats, mediaType)) return audioFormats[mediaType]!;
  throw unsupported(place, 'holds audio that is neither WAV nor MP3.');
}

function encodeFile({ id, name, data, mediaType }: Part<'file'>, place: string): JsonObject {
  if (id !== null) return { file_id: id };
  if (data === null) throw unsupported(place, 'holds a file by URL, which this model’s vendor cannot read.');
  return { filename: name || 'file.pdf', file_data: dataUrl(mediaType ?? 'application/pdf', data) };
}
