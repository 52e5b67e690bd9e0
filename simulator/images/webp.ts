import { noise } from './png.ts';

const RIFF_HEADER = 12;
const CHUNK_HEADER = 8;

/**
 * A lossless WebP of one colour. Each of the five prefix codes has a single symbol, which takes no bits per pixel, so
 * any size is the same few bytes.
 * @param bytes asked size of the file; an unknown chunk, which readers skip, fills it up
 */
export function encodeWebp(
  width: number,
  height: number,
  colour: readonly [number, number, number],
  bytes = 0,
): Buffer {
  const image = riffChunk('VP8L', losslessImage(width, height, colour));
  const missing = bytes - RIFF_HEADER - image.length - CHUNK_HEADER;
  const filling = missing > 0 ? riffChunk('RAND', noise(missing)) : Buffer.alloc(0);
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  head.writeUInt32LE(4 + image.length + filling.length, 4);
  return Buffer.concat([head, image, filling]);
}

function losslessImage(width: number, height: number, [red, green, blue]: readonly [number, number, number]): Buffer {
  const bits: number[] = [];
  const put = (value: number, count: number): void => {
    for (let bit = 0; bit < count; bit += 1) bits.push((value >> bit) & 1);
  };
  put(0x2f, 8);
  put(width - 1, 14);
  put(height - 1, 14);
  put(0, 1 + 3);
  put(0, 1 + 1 + 1);
  for (const symbol of [green, red, blue, 255]) {
    put(0b101, 3);
    put(symbol, 8);
  }
  put(0b0001, 4);
  return packBits(bits);
}

function packBits(bits: readonly number[]): Buffer {
  const packed = Buffer.alloc(Math.ceil(bits.length / 8));
  bits.forEach((bit, index) => {
    packed[index >> 3]! |= bit << (index & 7);
  });
  return packed;
}

function riffChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(CHUNK_HEADER);
  head.write(type, 0, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}
