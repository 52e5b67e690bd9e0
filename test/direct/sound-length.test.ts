import { describe, expect, it } from 'vitest';
import { soundSeconds } from '../../engine/wire/direct/sound-length.ts';
import { wav } from './support.ts';

const secondsOf = (bytes: Buffer, fileName = 'speech.wav'): number =>
  soundSeconds({
    kind: 'file',
    name: 'file',
    fileName,
    mediaType: 'audio/wav',
    length: bytes.length,
    head: bytes.subarray(0, 4096),
    async *read() {
      yield bytes;
    },
  });

describe('8 what a sound costs where no vendor tells its length', () => {
  it('8 a WAV file is as long as its samples', () => {
    expect(secondsOf(wav(3))).toBeCloseTo(3);
  });

  it.each([
    ['0, as who streams writes it', 0],
    ['less, with more samples behind it', 16],
    ['more than there are', 0xffffffff],
  ])('8 whatever the file announces: %s', (_name, announced) => {
    const file = wav(3);
    file.writeUInt32LE(announced, 40);
    expect(secondsOf(file)).toBeCloseTo(3);
  });

  it('8 the announced bytes of a second shorten nothing', () => {
    const file = wav(3);
    file.writeUInt32LE(0xffffffff, 28);
    expect(secondsOf(file)).toBeCloseTo(3);
  });

  it('8 a second format behind the first shortens nothing', () => {
    const file = wav(3);
    const second = Buffer.from(file.subarray(12, 36));
    second.writeUInt32LE(4_000_000_000, 12);
    const both = Buffer.concat([file.subarray(0, 36), second, file.subarray(36)]);
    expect(secondsOf(both)).toBeCloseTo(3);
    both.writeUInt16LE(0x55, 20);
    expect(secondsOf(both)).toBeCloseTo(both.length / 32_000);
  });

  it('8 notes between format and samples shorten nothing', () => {
    const file = wav(3);
    const notes = Buffer.alloc(5000);
    notes.write('LIST');
    notes.writeUInt32LE(4992, 4);
    expect(secondsOf(Buffer.concat([file.subarray(0, 36), notes, file.subarray(36)]))).toBeGreaterThan(3);
  });

  it('8 compressed sound in a WAV file is judged by its size', () => {
    const file = wav(3);
    file.writeUInt16LE(0x55, 20);
    file.writeUInt32LE(0xffffffff, 24);
    expect(secondsOf(file)).toBeCloseTo(file.length / 32_000);
  });

  it('8 a name does not make a file shorter', () => {
    const mp3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(159_997)]);
    expect(secondsOf(mp3, 'long.flac')).toBe(10);
    expect(secondsOf(mp3, 'long.mp3')).toBe(10);
  });
});
