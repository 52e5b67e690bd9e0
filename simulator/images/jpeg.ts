import { noise } from './png.ts';

const COMMENT_LIMIT = 65_533;
const QUANTIZER = 8;
const BLOCK = 8;
/** Huffman code lengths: DC category 0 has one bit, categories 1 to 11 have five. */
const DC_LENGTHS = [1, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const DC_SYMBOLS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
/** The only AC symbol is end-of-block, coded as one zero bit. */
const AC_LENGTHS = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const AC_SYMBOLS = [0];
const FIRST_FIVE_BIT_CODE = 0b10000;

/**
 * A baseline JPEG of one colour (ITU T.81, 4:4:4). Only the first block carries a DC value; with the Huffman tables
 * above every later block is two zero bits, so any size is a buffer of zeros.
 * @param bytes asked size of the file; comment segments fill it up
 */
export function encodeJpeg(
  width: number,
  height: number,
  colour: readonly [number, number, number],
  bytes = 0,
): Buffer {
  const parts = [
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0', 'latin1'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...new Array<number>(64).fill(QUANTIZER)]),
    segment(0xc0, frameHeader(width, height)),
    segment(0xc4, [0x00, ...DC_LENGTHS, ...DC_SYMBOLS]),
    segment(0xc4, [0x10, ...AC_LENGTHS, ...AC_SYMBOLS]),
    segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
    scan(width, height, colour),
    Buffer.from([0xff, 0xd9]),
  ];
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  parts.splice(2, 0, ...comments(bytes - size));
  return Buffer.concat(parts);
}

function segment(marker: number, data: readonly number[] | Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, Buffer.from(data)]);
}

function frameHeader(width: number, height: number): number[] {
  const components = [1, 2, 3].flatMap((id) => [id, 0x11, 0]);
  return [8, height >> 8, height & 255, width >> 8, width & 255, 3, ...components];
}

function scan(width: number, height: number, colour: readonly [number, number, number]): Buffer {
  const blocks = Math.ceil(width / BLOCK) * Math.ceil(height / BLOCK) * 3;
  const first = toYcc(colour).map(blockBits).join('');
  const total = first.length + (blocks - 3) * 2;
  const padded = first.padEnd(Math.ceil(first.length / 8) * 8, '0');
  const bytes: number[] = [];
  for (let index = 0; index < padded.length; index += 8) {
    const byte = Number.parseInt(padded.slice(index, index + 8), 2);
    bytes.push(byte);
    if (byte === 0xff) bytes.push(0);
  }
  const rest = Math.max(0, Math.ceil(total / 8) - padded.length / 8);
  return Buffer.concat([Buffer.from(bytes), Buffer.alloc(rest)]);
}

/** Level-shifted YCbCr; a flat block's DC coefficient is eight times the level, which the quantizer divides out. */
function toYcc([red, green, blue]: readonly [number, number, number]): number[] {
  const levels = [
    0.299 * red + 0.587 * green + 0.114 * blue - 128,
    -0.1687 * red - 0.3313 * green + 0.5 * blue,
    0.5 * red - 0.4187 * green - 0.0813 * blue,
  ];
  return levels.map((level) => Math.max(-127, Math.min(127, Math.round(level))));
}

function blockBits(level: number): string {
  if (level === 0) return '00';
  const magnitude = Math.abs(level).toString(2);
  const category = magnitude.length;
  const code = (FIRST_FIVE_BIT_CODE + category - 1).toString(2);
  const bits = level > 0 ? magnitude : magnitude.replace(/[01]/g, (bit) => (bit === '1' ? '0' : '1'));
  return `${code}${bits}0`;
}

function comments(missing: number): Buffer[] {
  const result: Buffer[] = [];
  for (let left = missing; left > 4; ) {
    const length = Math.min(COMMENT_LIMIT, left - 4);
    result.push(segment(0xfe, noise(length)));
    left -= length + 4;
  }
  return result;
}
