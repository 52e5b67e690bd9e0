import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sniffImage } from '../../engine/objects/image-type.ts';

const uint16 = (value: number, order: 'big' | 'little' = 'big'): Buffer => {
  const bytes = Buffer.alloc(2);
  if (order === 'big') bytes.writeUInt16BE(value);
  else bytes.writeUInt16LE(value);
  return bytes;
};
const uint32 = (value: number): Buffer => Buffer.concat([uint16(value >>> 16), uint16(value & 0xffff)]);
const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

const png = (width: number, height: number): Buffer =>
  Buffer.concat([
    ascii('\x89PNG\r\n\x1a\n'),
    uint32(13),
    ascii('IHDR'),
    uint32(width),
    uint32(height),
    ascii('\x08\x02\0\0\0'),
  ]);

const gif = (width: number, height: number, version = '89a'): Buffer =>
  Buffer.concat([ascii(`GIF${version}`), uint16(width, 'little'), uint16(height, 'little'), ascii('\0\0\0')]);

const segment = (marker: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), uint16(content.length + 2), content]);

const frame = (width: number, height: number, marker = 0xc0): Buffer =>
  segment(marker, Buffer.concat([Buffer.from([8]), uint16(height), uint16(width), Buffer.from([1, 1, 0x11, 0])]));

const jpeg = (...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts]);

const webp = (chunk: string, content: Buffer): Buffer =>
  Buffer.concat([ascii('RIFF\0\0\0\0WEBP'), ascii(chunk), ascii('\0\0\0\0'), content, Buffer.alloc(16)]);
const lossy = (width: number, height: number): Buffer =>
  webp('VP8 ', Buffer.concat([ascii('\x30\x01\0\x9d\x01\x2a'), uint16(width, 'little'), uint16(height, 'little')]));
const lossless = (width: number, height: number): Buffer => {
  const bits = Buffer.alloc(4);
  bits.writeUInt32LE((((height - 1) << 14) | (width - 1)) >>> 0);
  return webp('VP8L', Buffer.concat([Buffer.from([0x2f]), bits]));
};
const extended = (width: number, height: number): Buffer => {
  const size = Buffer.alloc(6);
  size.writeUIntLE(width - 1, 0, 3);
  size.writeUIntLE(height - 1, 3, 3);
  return webp('VP8X', Buffer.concat([Buffer.alloc(4), size]));
};

const app = segment(0xe1, Buffer.alloc(60_000, 0xff));

describe('sniffImage', () => {
  it.each([
    ['png', png(1024, 1536), 'image/png', 1024, 1536],
    ['gif 89a', gif(300, 200), 'image/gif', 300, 200],
    ['gif 87a', gif(1, 65_535, '87a'), 'image/gif', 1, 65_535],
    ['jpeg baseline', jpeg(segment(0xe0, ascii('JFIF\0')), frame(640, 480)), 'image/jpeg', 640, 480],
    ['jpeg progressive after big metadata', jpeg(app, app, app, frame(4096, 2160, 0xc2)), 'image/jpeg', 4096, 2160],
    ['jpeg with a Huffman table first', jpeg(segment(0xc4, Buffer.alloc(20)), frame(8, 9)), 'image/jpeg', 8, 9],
    ['jpeg with fill bytes', jpeg(Buffer.from([0xff, 0xff, 0xff]), frame(8, 9)), 'image/jpeg', 8, 9],
    ['webp lossy', lossy(800, 600), 'image/webp', 800, 600],
    ['webp lossless', lossless(16_384, 16_383), 'image/webp', 16_384, 16_383],
    ['webp extended', extended(70_000, 3), 'image/webp', 70_000, 3],
  ])('%s', (_, bytes, mediaType, width, height) => {
    const extension = mediaType === 'image/jpeg' ? 'jpg' : mediaType.slice(6);
    expect(sniffImage(bytes)).toEqual({ mediaType, extension, width, height });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', ascii('<svg xmlns="http://www.w3.org/2000/svg">')],
    ['png of no width', png(0, 5)],
    ['png without IHDR first', Buffer.concat([png(5, 5).subarray(0, 12), ascii('IDAT'), png(5, 5).subarray(16)])],
    ['gif of no height', gif(5, 0)],
    ['gif of another version', gif(5, 5, '88a')],
    ['jpeg of no height', jpeg(frame(5, 0))],
    ['jpeg whose data begins without a frame', jpeg(segment(0xda, Buffer.alloc(8)), frame(5, 5))],
    ['jpeg that ends at once', jpeg(Buffer.from([0xff, 0xd9]), frame(5, 5))],
    ['jpeg out of step', jpeg(ascii('garbage'), frame(5, 5))],
    ['jpeg of segments without end', jpeg(Buffer.alloc(8_000_000, Buffer.from([0xff, 0xe0, 0, 0])))],
    ['webp with an unknown chunk', webp('ALPH', Buffer.alloc(20))],
    ['webp lossy without its start code', webp('VP8 ', Buffer.alloc(20, 1))],
    ['RIFF that is sound', ascii('RIFF\0\0\0\0WAVEfmt                         ')],
  ])('%s is no image', (_, bytes) => {
    expect(sniffImage(bytes)).toBeNull();
  });

  it('an image cut off before its size is none, at every length', () => {
    for (const whole of [png(5, 6), gif(5, 6), jpeg(frame(5, 6)), lossy(5, 6), lossless(5, 6), extended(5, 6)]) {
      for (let length = 0; length < whole.length; length += 1) {
        const found = sniffImage(whole.subarray(0, length));
        expect(found === null || (found.width === 5 && found.height === 6)).toBe(true);
      }
      expect(sniffImage(whole)).toMatchObject({ width: 5, height: 6 });
    }
  });

  it('never throws and never invents a size, whatever follows a right beginning', () => {
    const beginnings = [
      '\x89PNG\r\n\x1a\n',
      'GIF89a',
      '\xff\xd8\xff',
      'RIFF\0\0\0\0WEBPVP8 ',
      'RIFF\0\0\0\0WEBPVP8L',
      '',
    ];
    const anything = fc.tuple(fc.constantFrom(...beginnings), fc.uint8Array({ maxLength: 400 }));
    fc.assert(
      fc.property(anything, ([beginning, rest]) => {
        const found = sniffImage(Buffer.concat([ascii(beginning), rest]));
        if (found === null) return;
        expect(found.width).toBeGreaterThan(0);
        expect(found.height).toBeGreaterThan(0);
      }),
    );
  });
});
