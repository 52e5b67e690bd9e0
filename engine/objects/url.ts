/** URLs of the folder engine: anyone may GET them until they expire, nobody can make one without the secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type UrlVerdict = 'valid' | 'invalid' | 'expired';

const expiresPattern = /^[1-9]\d{0,11}$/;
const signaturePattern = /^[A-Za-z0-9_-]{43}$/;

/** As text: the last character of 43 has two bits that no byte uses, so that four texts stand for the same bytes. */
const signatureOf = (secret: string, key: string, expires: string): string =>
  createHmac('sha256', secret).update(`${key}\n${expires}`).digest('base64url');

/** The query `expires=<unix seconds>&signature=<base64url>` for a key. */
export function signQuery(secret: string, key: string, expires: number): string {
  return `expires=${expires}&signature=${signatureOf(secret, key, String(expires))}`;
}

/** Checks a query against every secret in constant time; an URL counts as expired only where its signature is right. */
export function verifyQuery(
  secrets: readonly string[],
  key: string,
  query: string,
  now: number,
): { readonly verdict: UrlVerdict; readonly expires: number } {
  const parameters = new URLSearchParams(query);
  const expires = single(parameters, 'expires', expiresPattern);
  const signature = single(parameters, 'signature', signaturePattern);
  if (expires === null || signature === null) return { verdict: 'invalid', expires: 0 };
  const given = Buffer.from(signature);
  const matches = secrets.map((secret) => timingSafeEqual(Buffer.from(signatureOf(secret, key, expires)), given));
  if (!matches.includes(true)) return { verdict: 'invalid', expires: 0 };
  return { verdict: Number(expires) * 1000 > now ? 'valid' : 'expired', expires: Number(expires) };
}

function single(parameters: URLSearchParams, name: string, pattern: RegExp): string | null {
  const [value, ...more] = parameters.getAll(name);
  return value !== undefined && more.length === 0 && pattern.test(value) ? value : null;
}
