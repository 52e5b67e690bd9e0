/** How long an uploaded sound is: by the head of a WAV file, else by its size. */
import type { UploadedFile } from '../../contract/direct.ts';

/** Bytes of a second, by the name's ending: what speech is usually recorded with. */
const bytesPerSecond: Readonly<Record<string, number>> = {
  wav: 32_000,
  flac: 40_000,
  oga: 6_000,
  ogg: 6_000,
  opus: 4_000,
  webm: 6_000,
};
/** 128 kbit/s */
const otherwise = 16_000;

export function soundSeconds({ head, length, fileName }: UploadedFile): number {
  const ending = /\.(\w+)$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
  const rate = Object.hasOwn(bytesPerSecond, ending) ? bytesPerSecond[ending]! : otherwise;
  return wavSeconds(head, length) ?? length / rate;
}

/** RIFF chunks up to the one that holds the samples; recorders that stream announce more than there is. */
function wavSeconds(head: Buffer, length: number): number | null {
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    return null;
  let rate = 0;
  for (let at = 12; at + 8 <= head.length; ) {
    const name = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 20 <= head.length) rate = head.readUInt32LE(at + 16);
    if (name === 'data') return rate === 0 ? null : Math.min(size, length - at - 8) / rate;
    at += 8 + size + (size % 2);
  }
  return null;
}
