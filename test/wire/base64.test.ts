import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeBase64, decodeBase64InPlace, isJsonSafe } from '../../engine/wire/base64.ts';

/** Longer than what is decoded at a time, so that every kind of end and seam comes up. */
const sizes = [1, 2, 3, 24_575, 24_576, 24_577, 49_152, 70_000];

describe.each([
  ['as bytes', decodeBase64],
  ['in place', decodeBase64InPlace],
])('Base64 %s', (_, decodeBase64) => {
  it.each(sizes)('decodes %i bytes', (size) => {
    const bytes = randomBytes(size);
    expect(decodeBase64(Buffer.from(bytes.toString('base64')))?.equals(bytes)).toBe(true);
  });

  it.each(['*', '=', '"', '-', '_', '\n'])('refuses %j wherever it stands', (foreign) => {
    const base64 = randomBytes(70_000).toString('base64');
    for (const at of [0, 100, 32_767, 32_768, 65_540]) {
      const text = `${base64.slice(0, at)}${foreign}${base64.slice(at + 1)}`;
      expect(decodeBase64(Buffer.from(text)), `at ${at}`).toBeNull();
    }
  });

  it('refuses nothing at all, and lengths that no Base64 has', () => {
    expect(decodeBase64(Buffer.alloc(0))).toBeNull();
    expect(decodeBase64(Buffer.from('AAAAA'))).toBeNull();
  });

  it('leaves alone what stands before and behind it', () => {
    const bytes = randomBytes(50_000);
    const around = Buffer.from(`"${bytes.toString('base64')}"`);
    expect(decodeBase64(around.subarray(1, -1))?.equals(bytes)).toBe(true);
    expect([around[0], around.at(-1)]).toEqual([0x22, 0x22]);
  });
});

describe('Base64 within JSON', () => {
  it.each([0x00, 0x1f, 0x22, 0x5c, 0x80, 0xff])('a byte %i is found wherever it stands', (foreign) => {
    const bytes = Buffer.from('A'.repeat(83)).fill('/', 40);
    for (let from = 0; from < 4; from++) {
      expect(isJsonSafe(bytes.subarray(from))).toBe(true);
      for (let at = from; at < bytes.length; at++) {
        const spoilt = Buffer.from(bytes).subarray(from);
        spoilt[at - from] = foreign;
        expect(isJsonSafe(spoilt), `${foreign} at ${at} from ${from}`).toBe(false);
      }
    }
  });
});
