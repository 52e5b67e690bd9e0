/** Pictures that a video starts from, as clients send them: a file, a data URL, or an address. */
import type { ImageFile } from '../../contract/image.ts';
import type { VideoReference } from '../../contract/video.ts';
import { GatewayError } from '../../errors.ts';
import { sniffImage } from '../../objects/image-type.ts';
import { decodeBase64 } from '../base64.ts';

const longestUrl = 8192;

const refused = (param: string, message: string) => new GatewayError('invalid_value', message, { param });

/** A file whose bytes are an image. Throws 400 naming `param`. */
export function fileReference(param: string, { bytes, name }: ImageFile): VideoReference {
  const type = sniffImage(bytes);
  if (type === null) throw refused(param, `\`${param}\` is not a PNG, JPEG, WebP or GIF image.`);
  return { kind: 'file', file: { bytes, mediaType: type.mediaType, name } };
}

/** A `data:` URL becomes a file, an `https:` or `http:` one stays what it is. Throws 400 naming `param`. */
export function urlReference(param: string, text: string): VideoReference {
  const data = /^data:[\w.+/-]*;base64,/.exec(text.slice(0, 200))?.[0];
  if (data !== undefined) {
    const bytes = decodeBase64(Buffer.from(text.slice(data.length), 'latin1'));
    if (bytes === null) throw refused(param, `The data URL in \`${param}\` is not Base64.`);
    return fileReference(param, { bytes, mediaType: '', name: 'reference' });
  }
  const isUrl = text.length <= longestUrl && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isUrl) return { kind: 'url', url: text };
  throw refused(param, `\`${param}\` must be an https URL or a data URL of an image.`);
}

/** The picture as a URL that stands for itself. */
export function referenceUrl(reference: VideoReference): string {
  if (reference.kind === 'url') return reference.url;
  const { bytes, mediaType } = reference.file;
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}
