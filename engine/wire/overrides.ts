/** A channel's own laws over a JSON body: members it sets and members it takes out. */
import type { ParameterOverrides } from '../contract/wire.ts';
import { rewriteMembers } from './json.ts';

/** Writes the channel's changes over those that stand there already. */
export function layOver(changes: Map<string, string | null>, overrides: ParameterOverrides): void {
  for (const name of overrides.remove) changes.set(name, null);
  for (const [name, value] of Object.entries(overrides.set)) changes.set(name, JSON.stringify(value));
}

/** A body that is already written, with the channel's laws laid over it. */
export function overridden(body: Buffer, overrides: ParameterOverrides | null): Buffer {
  if (overrides === null) return body;
  const changes = new Map<string, string | null>();
  layOver(changes, overrides);
  return rewriteMembers(body, changes);
}
