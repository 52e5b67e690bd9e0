import { noise } from '../images/png.ts';

/** A video to write: one JPEG, shown for all its seconds. */
export interface Mp4Request {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly frame: Buffer;
  /** Asked file size; ignored where the video is larger already. */
  readonly bytes?: number | undefined;
}

const MILLISECONDS = 1000;
const BOX_HEAD = 8;
const FILLER = noise(1 << 20);
const UNITY_MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
const SOLID = 3;
const JPEG_VIDEO = 0x6c;
const VISUAL_STREAM = 0x11;
const DPI_72 = 0x00480000;

/**
 * A playable MP4 (ISO 14496-12) in parts: ftyp, moov, and an mdat with one JPEG that every second of the only track
 * points at. Noise fills it up to the asked size; its parts are one and the same megabyte, so that a large file takes
 * no memory.
 */
export function encodeMp4(request: Mp4Request): Buffer[] {
  const { frame, bytes = 0 } = request;
  const type = box('ftyp', Buffer.from('isom'), int32(0x200), Buffer.from('isomiso2mp41'));
  const head = type.length + movie(request, 0).length + BOX_HEAD;
  const filled = Math.max(0, bytes - head - frame.length);
  const length = int32(BOX_HEAD + frame.length + filled);
  return [Buffer.concat([type, movie(request, head), length, Buffer.from('mdat'), frame]), ...filler(filled)];
}

function filler(length: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let left = length; left > 0; left -= FILLER.length) parts.push(FILLER.subarray(0, left));
  return parts;
}

function movie(request: Mp4Request, offset: number): Buffer {
  const duration = request.seconds * MILLISECONDS;
  const times = [int32(0, 0, MILLISECONDS, duration)];
  const fixed = [int32(0x10000), int16(0x100, 0), int32(0, 0), int32(...UNITY_MATRIX)];
  const header = fullBox('mvhd', 0, ...times, ...fixed, Buffer.alloc(24), int32(2));
  return box('moov', header, box('trak', trackHeader(request, duration), media(request, duration, offset)));
}

function trackHeader({ width, height }: Mp4Request, duration: number): Buffer {
  const placed = [int16(0, 0, 0, 0), int32(...UNITY_MATRIX), int32(width << 16, height << 16)];
  return fullBox('tkhd', SOLID, int32(0, 0, 1, 0, duration), Buffer.alloc(8), ...placed);
}

function media(request: Mp4Request, duration: number, offset: number): Buffer {
  const header = fullBox('mdhd', 0, int32(0, 0, MILLISECONDS, duration), int16(0x55c4, 0));
  const handler = fullBox('hdlr', 0, int32(0), Buffer.from('vide'), Buffer.alloc(12), Buffer.from('video\0'));
  const here = fullBox('url ', 1);
  const information = box(
    'minf',
    fullBox('vmhd', 1, Buffer.alloc(8)),
    box('dinf', fullBox('dref', 0, int32(1), here)),
    samples(request, offset),
  );
  return box('mdia', header, handler, information);
}

/** One sample a second, each a chunk of its own at the same place. */
function samples(request: Mp4Request, offset: number): Buffer {
  const { seconds, frame } = request;
  return box(
    'stbl',
    fullBox('stsd', 0, int32(1), sampleEntry(request)),
    fullBox('stts', 0, int32(1, seconds, MILLISECONDS)),
    fullBox('stsc', 0, int32(1, 1, 1, 1)),
    fullBox('stsz', 0, int32(frame.length, seconds)),
    fullBox('stco', 0, int32(seconds, ...new Array<number>(seconds).fill(offset))),
  );
}

/** ISO 14496-14: visual samples whose elementary stream is JPEG. */
function sampleEntry({ width, height }: Mp4Request): Buffer {
  const place = [Buffer.alloc(6), int16(1), Buffer.alloc(16), int16(width, height), int32(DPI_72, DPI_72, 0), int16(1)];
  const decoder = descriptor(4, Buffer.from([JPEG_VIDEO, VISUAL_STREAM, 0, 0, 0]), int32(0, 0));
  const stream = descriptor(3, int16(1), Buffer.from([0]), decoder, descriptor(6, Buffer.from([2])));
  return box('mp4v', ...place, Buffer.alloc(32), int16(24, 0xffff), fullBox('esds', 0, stream));
}

function descriptor(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([int32(BOX_HEAD + content.length), Buffer.from(type, 'latin1'), content]);
}

/** A box with a version, always 0, and flags. */
const fullBox = (type: string, flags: number, ...parts: Buffer[]): Buffer => box(type, int32(flags), ...parts);

function int32(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

function int16(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}
