import { describe, expect, it } from 'vitest';
import { measureImage } from '../../simulator/images/measure.ts';
import { createPictures, type PictureFormat } from '../../simulator/images/pictures.ts';
import { decodeImage } from './pixels.ts';

const SIZES = [
  [1, 1],
  [17, 9],
  [1024, 1024],
  [3840, 2160],
  [4096, 4096],
] as const;

describe.each<PictureFormat>(['png', 'jpeg', 'webp'])('a %s picture', (format) => {
  const pictures = createPictures('exact');

  it.each(SIZES)('of %d x %d pixels decodes from end to end', (width, height) => {
    const { bytes, base64, mime } = pictures.draw({ format, width, height, seed: 'a fox' });
    expect(decodeImage(bytes)).toEqual({ format, width, height });
    expect(mime).toBe(`image/${format}`);
    expect(Buffer.from(base64.toString('latin1'), 'base64').equals(bytes)).toBe(true);
  });

  it('reaches an asked file size and still decodes', () => {
    const { bytes } = pictures.draw({ format, width: 64, height: 32, seed: 'x', bytes: 1_000_000 });
    expect(Math.abs(bytes.length - 1_000_000)).toBeLessThan(8);
    expect(decodeImage(bytes)).toEqual({ format, width: 64, height: 32 });
  });

  it('differs by seed and repeats by seed', () => {
    const draw = (seed: string) => createPictures('exact').draw({ format, width: 8, height: 8, seed }).bytes;
    expect(draw('a').equals(draw('a'))).toBe(true);
    expect(draw('a').equals(draw('b'))).toBe(false);
  });
});

it('the small mode draws at most 16 pixels a side', () => {
  const { bytes } = createPictures('small').draw({ format: 'png', width: 4096, height: 8, seed: '' });
  expect(decodeImage(bytes)).toEqual({ format: 'png', width: 16, height: 8 });
});

it('a decoded PNG or JPEG is measured, other bytes are not', () => {
  const pictures = createPictures('exact');
  for (const format of ['png', 'jpeg'] as const) {
    const { bytes, mime } = pictures.draw({ format, width: 33, height: 21, seed: '', bytes: 200_000 });
    expect(measureImage(bytes)).toEqual({ mime, width: 33, height: 21 });
  }
  expect(measureImage(Buffer.from('<svg/>'))).toBeUndefined();
});
