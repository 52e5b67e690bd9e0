/** Keys of stored objects: generated, never derived from input, and recognised by one strict pattern. */
import { randomBytes } from 'node:crypto';
import type { ObjectToStore } from '../contract/ports.ts';
import { extensionFor, extensions } from './media-types.ts';

const prefixPattern = /^[a-z][a-z0-9-]{0,31}$/;
const keyPattern = new RegExp(
  `^[a-z][a-z0-9-]{0,31}/\\d{4}/\\d{2}/\\d{2}/([0-9a-f]{32})\\.(?:${extensions.join('|')})$`,
);

const createId = (): string => randomBytes(16).toString('hex');

/**
 * `<prefix>/<yyyy>/<mm>/<dd>/<32 hex digits>.<extension>`, the day in UTC. `id`: the digits; random where it is left out.
 * Throws where the prefix is not a plain word.
 */
export function createKey(
  prefix: string,
  contentType: string,
  now: Date = new Date(),
  id: string = createId(),
): string {
  if (!prefixPattern.test(prefix)) throw new TypeError(`The prefix ${JSON.stringify(prefix)} is not a plain word.`);
  const day = now.toISOString().slice(0, 10).replaceAll('-', '/');
  return `${prefix}/${day}/${id}.${extensionFor(contentType)}`;
}

/** True for what `createKey` could have made: no dots, escapes or other letters that could leave the folder. */
export const isKey = (key: string): boolean => keyPattern.test(key);

/** The key that the object brings along, else a new one. Throws where it brings none that `createKey` could have made. */
export function keyFor({ key, prefix, contentType }: ObjectToStore): string {
  if (key === undefined) return createKey(prefix, contentType);
  if (!isKey(key)) throw new TypeError(`${JSON.stringify(key)} is not the key of an object.`);
  return key;
}

/** The random part of a key, or null where it is none. No object is replaced once anyone knows it, so it names the bytes too. */
export const idOf = (key: string): string | null => keyPattern.exec(key)?.[1] ?? null;
