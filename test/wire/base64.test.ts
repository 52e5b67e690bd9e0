import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../engine/wire/base64.ts';

/** Longer than what is decoded at a time, so that every kind of end and seam comes up. */
const sizes = [1, 2, 3, 24_575, 24_576, 24_577, 49_152, 70_000];

describe('Base64 as bytes', () => {
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
});
