const POSITIONS_PER_WORD = 24;
const NOISE = 0.1;
const MEMORY_LIMIT = 256;
const LONGEST_REMEMBERED = 2000;

const memory = new Map<string, readonly number[]>();

/**
 * A vector of length 1 that depends on nothing but the text. Texts that share words point the same way. Fewer
 * dimensions than `width` are the first ones, normalized again, as OpenAI and Jina shorten theirs.
 */
export function embedText(text: string, width: number, dimensions = width): readonly number[] {
  const key = `${width} ${dimensions} ${text}`;
  const known = memory.get(key);
  if (known) return known;
  const vector = normalize(hashWords(text, width).subarray(0, dimensions));
  if (memory.size >= MEMORY_LIMIT) memory.clear();
  if (text.length <= LONGEST_REMEMBERED) memory.set(key, vector);
  return vector;
}

/** Little-endian float32 values, as OpenAI's `encoding_format: base64` has them. */
export function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Every word pushes a few dimensions up or down; a little noise from the whole text tells apart what has the same words. */
function hashWords(text: string, width: number): Float64Array {
  const vector = new Float64Array(width);
  const noise = randomFrom(hashText(text));
  for (let index = 0; index < width; index += 1) vector[index] = (noise() * 2 - 1) * NOISE;
  for (const word of wordsOf(text)) {
    const random = randomFrom(hashText(word));
    for (let push = 0; push < POSITIONS_PER_WORD; push += 1)
      vector[Math.floor(random() * width)]! += random() < 0.5 ? -1 : 1;
  }
  return vector;
}

function normalize(vector: Float64Array): number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Array.from(vector, (value) => Number((value / length).toFixed(9)));
}

/** FNV-1a over UTF-16 units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
