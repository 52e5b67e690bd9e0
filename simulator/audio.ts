/** The most bytes `audioBytes` gives at once. */
const LARGEST_PIECE = 65_536;

/** Bytes that change with their position, twice over so that any piece is a view of them: a long answer costs no memory. */
const PATTERN = Buffer.from(
  Uint8Array.from({ length: 2 * LARGEST_PIECE }, (_, index) => (index * 167 + ((index >> 8) & 0xff) * 13) & 0xff),
);

/** Sound that says nothing: `size` bytes from a position on, the same for the same position. */
export function audioBytes(position: number, size: number): Buffer {
  const start = position % LARGEST_PIECE;
  return PATTERN.subarray(start, start + size);
}

/** Where pieces of a length lie: at least `count` of them, none larger than `LARGEST_PIECE`. */
export function cutEvenly(length: number, count: number): { start: number; size: number }[] {
  const pieces = Math.max(1, Math.min(count, length), Math.ceil(length / LARGEST_PIECE));
  return Array.from({ length: pieces }, (_, index) => {
    const start = Math.floor((index * length) / pieces);
    return { start, size: Math.floor(((index + 1) * length) / pieces) - start };
  });
}

/** The head of a WAV file of 16 bits, one channel. */
export function wavHeader(length: number, rate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(length + 36, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(length, 40);
  return header;
}

/** Seconds of sound in a WAV file, by its own header; undefined for anything else. */
export function wavSeconds(bytes: Buffer): number | undefined {
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 20 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(at + 16);
    if (name === 'data')
      return bytesPerSecond === 0 ? undefined : Math.min(size, bytes.length - at - 8) / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return undefined;
}
