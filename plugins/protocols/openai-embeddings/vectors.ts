/** Vectors as Base64: 32-bit floats, the lowest byte first, whatever this machine does. */
import { endianness } from 'node:os';

const isBackwards = endianness() === 'BE';

export function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.from(Float32Array.from(vector).buffer);
  return (isBackwards ? bytes.swap32() : bytes).toString('base64');
}

/** Null where the text is no Base64 of whole floats. */
export function decodeVector(base64: string): number[] | null {
  if (base64 === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
  const numbers = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  return numbers.every(Number.isFinite) ? numbers : null;
}

export const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
