/** Both ends inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const pattern = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * What a Range header asks of `size` bytes (RFC 9110, 14): one range, `unsatisfiable`, or null where the whole is to be
 * sent: no header, one that is malformed, or several ranges, which a server may answer with the whole.
 */
export function parseRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | null {
  const match = header === null ? null : pattern.exec(header);
  if (match === null) return null;
  const [, from, to] = match as unknown as [string, string, string];
  if (from === '') return to === '' ? null : suffix(Number(to), size);
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return null;
  return first >= size ? 'unsatisfiable' : { first, last: Math.min(last, size - 1) };
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || size === 0) return 'unsatisfiable';
  return { first: Math.max(0, size - length), last: size - 1 };
}
