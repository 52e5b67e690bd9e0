/** Data URLs with Base64 (RFC 2397), the form in which chat clients write pictures and files. */
import type { ChatPart } from '../contract/chat.ts';
import { GatewayError } from '../errors.ts';
import { imageTypeOf } from './image-beginning.ts';

export interface InlineData {
  readonly mediaType: string | null;
  /** Base64, as it came. */
  readonly data: string;
}

/** `data:<type>;base64,<data>`; null for another URL. Throws `invalid_value` for data that is not Base64. */
export function readDataUrl(url: string, param: string): InlineData | null {
  if (!/^data:/i.test(url)) return null;
  const comma = url.indexOf(',');
  const head = comma < 0 ? '' : url.slice(5, comma);
  if (!/;base64$/i.test(head))
    throw new GatewayError('invalid_value', `\`${param}\` must be \`data:<type>;base64,<data>\`.`, { param });
  return { mediaType: head.split(';')[0] || null, data: url.slice(comma + 1) };
}

/** A picture by its URL, as OpenAI's clients write it. */
export function imageByUrl(url: string, param: string, detail: string | null): ChatPart {
  const inline = readDataUrl(url, param);
  return {
    type: 'image',
    mediaType: inline?.mediaType ?? null,
    data: inline?.data ?? null,
    url: inline === null ? url : null,
    ...(detail === null ? {} : { detail }),
  };
}

/** A file's content as a data URL or, from some clients, as plain Base64; nothing where there is none. */
export function fileContent(content: string | null, param: string): Pick<InlineFile, 'mediaType' | 'data'> {
  if (content === null) return { mediaType: null, data: null };
  return readDataUrl(content, param) ?? { mediaType: null, data: content };
}

type InlineFile = Extract<ChatPart, { type: 'file' }>;

export const dataUrl = (mediaType: string, data: string): string => `data:${mediaType};base64,${data}`;

/** Where a picture of a conversation is, or what it is. */
export const imageUrl = ({ mediaType, data, url }: Extract<ChatPart, { type: 'image' }>): string =>
  data === null ? (url ?? '') : dataUrl(mediaType ?? imageTypeOf(data) ?? 'image/png', data);
