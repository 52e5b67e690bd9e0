import { createHash } from 'node:crypto';
import { encodeJpeg } from './jpeg.ts';
import { encodePng } from './png.ts';
import { encodeWebp } from './webp.ts';

export type PictureFormat = 'png' | 'jpeg' | 'webp';

interface PictureRequest {
  readonly format: PictureFormat;
  readonly width: number;
  readonly height: number;
  /** Decides the colour. */
  readonly seed: string;
  /** Asked file size; ignored where the picture is larger already. */
  readonly bytes?: number | undefined;
}

export interface Picture {
  readonly mime: string;
  readonly extension: string;
  readonly bytes: Buffer;
  /** The Base64 text as bytes, ready for the socket. */
  readonly base64: Buffer;
}

export interface Pictures {
  draw(request: PictureRequest): Picture;
  /** Keeps a picture for `GET /{vendor}/files/{name}` and returns its name. */
  publish(picture: Picture): string;
  find(name: string): Picture | undefined;
}

const ENCODERS = { png: encodePng, jpeg: encodeJpeg, webp: encodeWebp };
const EXTENSIONS = { png: 'png', jpeg: 'jpg', webp: 'webp' };
const SMALL_SIDE = 16;
const REMEMBERED_BYTES = 256_000_000;
const PUBLISHED_LIMIT = 1000;

/** `small` draws everything at 16 pixels a side at most, for tests that do not look at pixels. */
export function createPictures(mode: 'small' | 'exact'): Pictures {
  const drawn = new Map<string, Picture>();
  const published = new Map<string, Picture>();
  let drawnBytes = 0;
  let serial = 0;

  const remember = (key: string, picture: Picture): void => {
    drawnBytes += picture.bytes.length + picture.base64.length;
    if (drawnBytes > REMEMBERED_BYTES) {
      drawn.clear();
      drawnBytes = 0;
    }
    drawn.set(key, picture);
  };

  return {
    draw(request) {
      const { format, seed, bytes } = request;
      const limit = mode === 'small' ? SMALL_SIDE : Number.POSITIVE_INFINITY;
      const width = Math.min(request.width, limit);
      const height = Math.min(request.height, limit);
      const key = `${format} ${width}x${height} ${bytes ?? 0} ${seed}`;
      const known = drawn.get(key);
      if (known) return known;
      const encoded = ENCODERS[format](width, height, colourOf(seed), bytes);
      const base64 = Buffer.from(encoded.toString('base64'), 'latin1');
      const picture = { mime: `image/${format}`, extension: EXTENSIONS[format], bytes: encoded, base64 };
      remember(key, picture);
      return picture;
    },
    publish(picture) {
      serial += 1;
      const name = `${serial.toString(36).padStart(8, '0')}.${picture.extension}`;
      published.set(name, picture);
      if (published.size > PUBLISHED_LIMIT) published.delete(published.keys().next().value!);
      return name;
    },
    find: (name) => published.get(name),
  };
}

function colourOf(seed: string): [number, number, number] {
  const digest = createHash('sha256').update(seed).digest();
  return [digest[0]!, digest[1]!, digest[2]!];
}
