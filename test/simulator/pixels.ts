import { crc32, inflateSync } from 'node:zlib';

export interface Decoded {
  readonly format: 'png' | 'jpeg' | 'webp';
  readonly width: number;
  readonly height: number;
}

/** Reads a file from end to end by its format's own rules and throws where it breaks one; shares no code with the simulator. */
export function decodeImage(bytes: Buffer): Decoded {
  if (bytes.readUInt32BE(0) === 0x89504e47) return decodePng(bytes);
  if (bytes.readUInt16BE(0) === 0xffd8) return decodeJpeg(bytes);
  return decodeWebp(bytes);
}

function decodePng(bytes: Buffer): Decoded {
  const data: Buffer[] = [];
  const types: string[] = [];
  let offset = 8;
  while (offset < bytes.length) {
    const length = bytes.readUInt32BE(offset);
    const typed = bytes.subarray(offset + 4, offset + 8 + length);
    if (crc32(typed) !== bytes.readUInt32BE(offset + 8 + length)) throw new Error('wrong CRC');
    types.push(typed.toString('latin1', 0, 4));
    if (types.at(-1) === 'IDAT') data.push(typed.subarray(4));
    offset += 12 + length;
  }
  if (types[0] !== 'IHDR' || types.at(-1) !== 'IEND') throw new Error(`wrong chunks: ${types}`);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const [depth, colour] = [bytes[24]!, bytes[25]!];
  if (colour !== 3 || !types.includes('PLTE')) throw new Error('not a palette image');
  const rows = inflateSync(Buffer.concat(data));
  if (rows.length !== height * (1 + Math.ceil((width * depth) / 8))) throw new Error('wrong count of pixels');
  return { format: 'png', width, height };
}

/** Walks the segments, then decodes every block of the scan with the tables the file carries. */
function decodeJpeg(bytes: Buffer): Decoded {
  const tables = new Map<number, Map<string, number>>();
  let size: [number, number] = [0, 0];
  let offset = 2;
  for (;;) {
    if (bytes[offset] !== 0xff) throw new Error('no marker');
    const marker = bytes[offset + 1]!;
    const length = bytes.readUInt16BE(offset + 2);
    const data = bytes.subarray(offset + 4, offset + 2 + length);
    offset += 2 + length;
    if (marker === 0xc0) size = [data.readUInt16BE(3), data.readUInt16BE(1)];
    if (marker === 0xc4) tables.set(data[0]!, huffman(data));
    if (marker === 0xda) break;
  }
  const [width, height] = size;
  if (bytes.readUInt16BE(bytes.length - 2) !== 0xffd9) throw new Error('no end of image');
  const bits = [...bytes.subarray(offset, bytes.length - 2)].filter(
    (byte, index, all) => byte !== 0 || all[index - 1] !== 0xff,
  );
  decodeBlocks(bits, Math.ceil(width / 8) * Math.ceil(height / 8) * 3, tables);
  return { format: 'jpeg', width, height };
}

function huffman(data: Buffer): Map<string, number> {
  const codes = new Map<string, number>();
  let [code, at] = [0, 17];
  for (let length = 1; length <= 16; length += 1) {
    for (let count = data[length]!; count > 0; count -= 1)
      codes.set((code++).toString(2).padStart(length, '0'), data[at++]!);
    code <<= 1;
  }
  return codes;
}

function decodeBlocks(bytes: number[], blocks: number, tables: Map<number, Map<string, number>>): void {
  let position = 0;
  const bit = (): string => {
    if (position >= bytes.length * 8) throw new Error('the scan is too short');
    const value = (bytes[position >> 3]! >> (7 - (position & 7))) & 1;
    position += 1;
    return String(value);
  };
  const symbol = (table: Map<string, number>): number => {
    for (let code = ''; code.length <= 16; ) {
      code += bit();
      if (table.has(code)) return table.get(code)!;
    }
    throw new Error('unknown Huffman code');
  };
  for (let block = 0; block < blocks; block += 1) {
    for (let extra = symbol(tables.get(0x00)!); extra > 0; extra -= 1) bit();
    if (symbol(tables.get(0x10)!) !== 0) throw new Error('expected the end of a block');
  }
  if (bytes.length * 8 - position >= 8) throw new Error('the scan is too long');
}

function decodeWebp(bytes: Buffer): Decoded {
  if (bytes.toString('latin1', 8, 16) !== 'WEBPVP8L') throw new Error('not a lossless WebP');
  if (bytes.readUInt32LE(4) !== bytes.length - 8) throw new Error('wrong RIFF length');
  if (bytes[20] !== 0x2f) throw new Error('wrong signature');
  const head = bytes.readUInt32LE(21);
  return { format: 'webp', width: (head & 0x3fff) + 1, height: ((head >> 14) & 0x3fff) + 1 };
}
