/** What the head of an image file says; `width` and `height` are absent where the format hides them deeper. */
export interface ImageFacts {
  readonly mime: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly width?: number;
  readonly height?: number;
}

/** Recognizes PNG, JPEG and WebP by their bytes; undefined for anything else. */
export function measureImage(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length >= 24 && bytes.readUInt32BE(0) === 0x89504e47)
    return { mime: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8) return measureJpeg(bytes);
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return { mime: 'image/webp' };
  return undefined;
}

function measureJpeg(bytes: Buffer): ImageFacts {
  let offset = 2;
  while (offset + 9 < bytes.length && bytes[offset] === 0xff) {
    const marker = bytes[offset + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame)
      return { mime: 'image/jpeg', height: bytes.readUInt16BE(offset + 5), width: bytes.readUInt16BE(offset + 7) };
    offset += 2 + bytes.readUInt16BE(offset + 2);
  }
  return { mime: 'image/jpeg' };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Decodes strict Base64 (standard or URL alphabet, padded or not); undefined where it is something else. */
export function decodeBase64(text: string): Buffer | undefined {
  return text.length > 0 && text.replace(/=+$/, '').length % 4 !== 1 && BASE64.test(text)
    ? Buffer.from(text, 'base64')
    : undefined;
}

/** The bytes of a `data:` URL, or undefined. */
export function decodeDataUrl(url: string): Buffer | undefined {
  const match = /^data:[\w.+-]+\/[\w.+-]+;base64,/.exec(url);
  return match ? decodeBase64(url.slice(match[0].length)) : undefined;
}

/** The ratio of the list that is nearest to width : height in log space. */
export function nearestRatio(width: number, height: number, ratios: readonly string[]): string | undefined {
  const distance = (ratio: string): number => Math.abs(Math.log(width / height) - Math.log(ratioValue(ratio)));
  return ratios.toSorted((left, right) => distance(left) - distance(right))[0];
}

export function ratioValue(ratio: string): number {
  const [width, height] = ratio.split(':');
  return Number(width) / Number(height);
}
