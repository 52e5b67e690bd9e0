/** API keys: `sk-` and 48 random base62 characters. Only their SHA-256 is stored. */
import { hash, randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 48;
const pattern = /^sk-[0-9A-Za-z]{48}$/;
/** The largest multiple of 62 in a byte: bytes from there on are thrown away, for they would favour the first letters. */
const fairBelow = 248;

/** A new secret. It cannot be had again: the database keeps its hash only. */
export function createSecret(): string {
  let letters = '';
  while (letters.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      if (byte < fairBelow && letters.length < randomLength) letters += alphabet[byte % alphabet.length];
    }
  }
  return `sk-${letters}`;
}

/** SHA-256 of the secret as base64url: what the database and the cache know a key by. */
export function hashKey(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Whether the text has the form of a key (spec section 5). */
export function isWellFormedKey(text: string): boolean {
  return pattern.test(text);
}

/** What a list may show: `sk-AbCd...wXyz`. */
export function displayPrefix(secret: string): string {
  return `${secret.slice(0, 7)}...${secret.slice(-4)}`;
}
