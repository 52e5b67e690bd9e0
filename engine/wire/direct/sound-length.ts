/** How long an uploaded sound is: by the samples of a WAV file, else by its size. */
import type { UploadedFile } from '../../contract/direct.ts';

/** Bytes of a second, by what the file begins with: what speech is usually recorded with. Names say what clients like. */
const bytesPerSecond: Readonly<Record<string, number>> = {
  RIFF: 32_000,
  fLaC: 40_000,
  OggS: 6_000,
  '\x1a\x45\xdf\xa3': 6_000,
};
/** 128 kbit/s */
const otherwise = 16_000;
/** 8 kbit/s: below that nobody is understood. */
const least = 1_000;

export function soundSeconds({ head, length }: UploadedFile): number {
  const rate = bytesPerSecond[head.toString('latin1', 0, 4)] ?? otherwise;
  return wavSeconds(head, length) ?? length / rate;
}

/** How long it is at the most, by the same head. */
export const longestSeconds = ({ head, length }: UploadedFile): number => wavSeconds(head, length) ?? length / least;

/** Formats whose samples have one size: PCM, floats, A-law, µ-law, and those that tell a subtype. */
const evenFormats = [1, 3, 6, 7, 0xfffe];

/** Bytes of a second by what players go by; the rate that the head announces beside it is for show. */
function rateOf(format: Buffer): number {
  if (!evenFormats.includes(format.readUInt16LE(0))) return 0;
  const channels = format.readUInt16LE(2);
  const samples = format.readUInt32LE(4);
  const bits = format.readUInt16LE(14);
  return (samples * channels * bits) / 8;
}

/** RIFF chunks up to the one where samples begin. How many it announces is not asked: others may follow, and who streams does not know. */
function wavSeconds(head: Buffer, length: number): number | null {
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    return null;
  let rate: number | null = null;
  for (let at = 12; at + 8 <= head.length; ) {
    const name = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    // The first one counts, as for players: another one behind it could only shorten the sound.
    if (name === 'fmt ' && at + 24 <= head.length) rate ??= rateOf(head.subarray(at + 8));
    if (name === 'data') return rate ? (length - at - 8) / rate : null;
    at += 8 + size + (size % 2);
  }
  return rate ? length / rate : null;
}
