/** Names of tools that a vendor does not take, as names that it does, and back. */
import { createHash } from 'node:crypto';
import type { ToolNameRule } from '../contract/wire.ts';

/** Enough that two names of one request never meet; that they did not is looked up all the same. */
const hashLength = 8;

/**
 * The names that have to be written in another way; null where all can stay. A name always becomes the same one: the
 * vendor's cache of a conversation depends on it.
 */
export function writableNames(names: Iterable<string>, rule: ToolNameRule): ReadonlyMap<string, string> | null {
  const all = new Set(names);
  const taken = new Set(all);
  const written = new Map<string, string>();
  for (const name of all) {
    // Nobody can have meant the empty name: the vendor says so.
    if (name === '' || rule.pattern.test(name)) continue;
    let salt = '';
    while (taken.has(writtenAnew(name, salt, rule))) salt += '+';
    const anew = writtenAnew(name, salt, rule);
    taken.add(anew);
    written.set(name, anew);
  }
  return written.size === 0 ? null : written;
}

function writtenAnew(name: string, salt: string, { longest }: ToolNameRule): string {
  const hash = createHash('sha256')
    .update(name + salt)
    .digest('hex')
    .slice(0, hashLength);
  const plain = name.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^(?![a-zA-Z_])/, '_');
  return `${plain.slice(0, longest - hashLength - 1)}_${hash}`;
}
