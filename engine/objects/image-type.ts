/** What an image is by its first bytes: PNG, JPEG, WebP or GIF. Nothing is decoded, nothing beyond the buffer is read. */
export interface ImageType {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
  readonly extension: 'png' | 'jpg' | 'webp' | 'gif';
  /** Pixels, at least 1. */
  readonly width: number;
  readonly height: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Null where the bytes are none of the four, are cut off before the size, or name a size of zero. */
export function sniffImage(bytes: Buffer): ImageType | null {
  return (
    typed('image/png', 'png', pngSize(bytes)) ??
    typed('image/jpeg', 'jpg', jpegSize(bytes)) ??
    typed('image/webp', 'webp', webpSize(bytes)) ??
    typed('image/gif', 'gif', gifSize(bytes))
  );
}

function typed(mediaType: ImageType['mediaType'], extension: ImageType['extension'], size: Size | null) {
  if (size === null || size.width === 0 || size.height === 0) return null;
  return { mediaType, extension, ...size };
}

const text = (bytes: Buffer, start: number, end: number): string => bytes.toString('latin1', start, end);

function pngSize(bytes: Buffer): Size | null {
  if (bytes.length < 24 || text(bytes, 0, 8) !== '\x89PNG\r\n\x1a\n' || text(bytes, 12, 16) !== 'IHDR') return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): Size | null {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(text(bytes, 0, 6))) return null;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** Far more than real files have before the frame header; keeps a hostile one from costing time. */
const maximumSegments = 2048;

function jpegSize(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  let position = 2;
  for (let segments = 0; segments < maximumSegments && position + 4 <= bytes.length; segments += 1) {
    if (bytes[position] !== 0xff) return null;
    const marker = bytes[position + 1]!;
    if (isFrame(marker)) return frameSize(bytes, position);
    if (marker === 0xd9 || marker === 0xda) return null; // the image ends or its data begins without a frame header
    position += lengthOfSegment(bytes, position, marker);
  }
  return null;
}

/** SOF0 to SOF15 without DHT, JPG and DAC, which share the range (ITU T.81, table B.1). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function frameSize(bytes: Buffer, position: number): Size | null {
  if (position + 9 > bytes.length) return null;
  return { width: bytes.readUInt16BE(position + 7), height: bytes.readUInt16BE(position + 5) };
}

/** Marker and content; a fill byte (ff) is one byte, markers without content are two. */
function lengthOfSegment(bytes: Buffer, position: number, marker: number): number {
  if (marker === 0xff) return 1;
  if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) return 2;
  return 2 + Math.max(2, bytes.readUInt16BE(position + 2));
}

function webpSize(bytes: Buffer): Size | null {
  if (bytes.length < 30 || text(bytes, 0, 4) !== 'RIFF' || text(bytes, 8, 12) !== 'WEBP') return null;
  const chunk = text(bytes, 12, 16);
  if (chunk === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (chunk === 'VP8L' && bytes[20] === 0x2f) return losslessSize(bytes.readUInt32LE(21));
  if (chunk === 'VP8 ' && text(bytes, 23, 26) === '\x9d\x01\x2a') {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  return null;
}

/** Two fields of 14 bits, each the size less one. */
const losslessSize = (bits: number): Size => ({ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 });
