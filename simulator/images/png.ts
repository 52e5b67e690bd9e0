import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BIT_DEPTH = 4;
const PALETTE_COLOURS = 16;
const CHUNK_OVERHEAD = 12;
const INDEXED_COLOUR = 3;
const FILTER_UP = 2;
const REMEMBERED_SIZES = 64;

const pixelsBySize = new Map<string, Buffer>();

/**
 * A PNG with a 16-step gradient from left to right. The pixels are palette indexes, the same for every picture of a
 * size, so only the first one of a size is deflated; the colour is in the palette alone.
 * @param bytes asked size of the file; a random ancillary chunk fills it up
 */
export function encodePng(width: number, height: number, colour: readonly [number, number, number], bytes = 0): Buffer {
  const chunks = [
    SIGNATURE,
    chunk('IHDR', header(width, height)),
    chunk('PLTE', palette(colour)),
    chunk('IDAT', pixels(width, height)),
  ];
  const end = chunk('IEND', Buffer.alloc(0));
  const missing = bytes - chunks.reduce((sum, part) => sum + part.length, end.length) - CHUNK_OVERHEAD;
  if (missing > 0) chunks.push(chunk('raNd', noise(missing)));
  return Buffer.concat([...chunks, end]);
}

/** Bytes that do not compress and are the same in every run. */
export function noise(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = 0x2545f491;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

function header(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.writeUInt8(BIT_DEPTH, 8);
  data.writeUInt8(INDEXED_COLOUR, 9);
  return data;
}

function palette(colour: readonly [number, number, number]): Buffer {
  const steps = Array.from({ length: PALETTE_COLOURS }, (_, step) => (step + 1) / PALETTE_COLOURS);
  return Buffer.from(steps.flatMap((step) => colour.map((channel) => Math.round(channel * step))));
}

function pixels(width: number, height: number): Buffer {
  const key = `${width}x${height}`;
  const known = pixelsBySize.get(key);
  if (known) return known;
  const deflated = deflateSync(scanlines(width, height), { level: 1 });
  if (pixelsBySize.size >= REMEMBERED_SIZES) pixelsBySize.clear();
  pixelsBySize.set(key, deflated);
  return deflated;
}

/** The first row is the gradient, each other row equals the one above it: filter `Up` and zeros, which deflate to little. */
function scanlines(width: number, height: number): Buffer {
  const stride = 1 + Math.ceil(width / 2);
  const rows = Buffer.alloc(stride * height);
  for (let x = 0; x < width; x += 1) {
    const index = Math.floor((x * PALETTE_COLOURS) / width);
    rows[1 + (x >> 1)]! |= x % 2 === 0 ? index << BIT_DEPTH : index;
  }
  for (let y = 1; y < height; y += 1) rows[y * stride] = FILTER_UP;
  return rows;
}

function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(data.length + CHUNK_OVERHEAD);
  framed.writeUInt32BE(data.length, 0);
  framed.write(type, 4, 'latin1');
  data.copy(framed, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, 8 + data.length)), 8 + data.length);
  return framed;
}
