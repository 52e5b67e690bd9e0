/** Tokens of a chat request by its bytes, where encoded pictures count as pictures and not as words. */
import type { JsonObject, JsonValue } from '../contract/values.ts';
import { isObject } from './openai/fields.ts';

/** Smaller requests are not looked into: a picture in them counts as if it were words. */
const smallRequest = 64 * 1024;
/** Bytes that a picture counts at most. */
const mostOfPicture = 4000;

const conversations = ['messages', 'input', 'contents'] as const;
/** Where protocols put pictures. What models read as words, such as the arguments of calls, stands elsewhere. */
const rooms = ['content', 'parts', 'image_url', 'source', 'inlineData', 'inline_data', 'output'] as const;
const urls = ['image_url', 'url'] as const;

/** Four of the `bytes` in which `body` came are about one token. */
export function askedTokens(bytes: number, body: JsonObject): number {
  let counted = bytes;
  if (bytes > smallRequest) for (const name of conversations) counted -= excessIn(body[name]);
  return Math.ceil(counted / 4);
}

/** A picture in a result in a message, with the lists between them. */
const deepest = 10;

/** Characters of encoded pictures beyond what is counted of them. */
function excessIn(value: JsonValue | undefined, depth = 0): number {
  let excess = 0;
  if (depth > deepest) return excess;
  if (Array.isArray(value)) for (const one of value) excess += excessIn(one, depth + 1);
  if (!isObject(value)) return excess;
  const type = value.media_type ?? value.mimeType ?? value.mime_type;
  if (typeof type === 'string' && type.startsWith('image/')) excess += beyond(value.data);
  for (const name of urls) {
    const url = value[name];
    if (typeof url === 'string' && /^data:image\//i.test(url)) excess += beyond(url);
  }
  for (const name of rooms) if (value[name] !== undefined) excess += excessIn(value[name], depth + 1);
  return excess;
}

const beyond = (data: JsonValue | undefined): number =>
  typeof data === 'string' ? Math.max(0, data.length - mostOfPicture) : 0;
