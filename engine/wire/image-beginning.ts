/** What an image in Base64 is, by its first characters: for where nobody said it. */
const byBeginning: readonly (readonly [string, string])[] = [
  ['iVBORw', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** Null for none of the four that every vendor takes. */
export const imageTypeOf = (base64: string): string | null =>
  byBeginning.find(([beginning]) => base64.startsWith(beginning))?.[1] ?? null;
