import { createHash } from 'node:crypto';
import { jsonParts } from '../../answers.ts';
import type { Call } from '../../contract.ts';
import { bearerToken } from '../../credentials.ts';
import { defineMemory } from '../../memory.ts';
import { seal, unseal } from '../../signatures.ts';
import type { Item } from './responses-items.ts';

/** A response as `GET` finds it, with what the next turn builds on. */
export interface StoredResponse {
  readonly account: string;
  /** With image slots. */
  readonly value: { readonly id: string; readonly output: readonly Item[] };
  readonly images: readonly Buffer[];
  readonly input: readonly Item[];
  /** All turns before, this one's input and its output. */
  readonly conversation: readonly Item[];
}

interface StoredItem {
  readonly account: string;
  readonly item: Item;
  readonly images: readonly Buffer[];
  /** The reasoning item that came before it in the same output. */
  readonly reasoning: string | undefined;
}

const responses = defineMemory<StoredResponse>(1000);
const items = defineMemory<StoredItem>(10_000);

/** Whose request it is: every credential is an account of its own, which finds only what it made. */
export function accountOf(call: Call): string {
  return createHash('sha256')
    .update(bearerToken(call.headers.authorization) ?? '')
    .digest('hex')
    .slice(0, 16);
}

export function findResponse(call: Call, id: string): StoredResponse | undefined {
  const stored = responses(call).get(id);
  return stored?.account === accountOf(call) ? stored : undefined;
}

export function keepResponse(call: Call, stored: StoredResponse): void {
  const { account, images } = stored;
  responses(call).set(stored.value.id, stored);
  for (const item of stored.input) {
    const id = item.id as string;
    if (!items(call).get(id)) items(call).set(id, { account, item, images: [], reasoning: undefined });
  }
  let reasoning: string | undefined;
  for (const item of stored.value.output) {
    const id = item.id as string;
    items(call).set(id, { account, item, images, reasoning: item.type === 'reasoning' ? undefined : reasoning });
    if (item.type === 'reasoning') reasoning = id;
  }
}

export function forgetResponse(call: Call, { value, input }: StoredResponse): void {
  responses(call).delete(value.id);
  for (const { id } of [...input, ...value.output]) items(call).delete(id as string);
}

export function findItem(call: Call, id: unknown): { item: Item; reasoning: string | undefined } | undefined {
  const stored = typeof id === 'string' ? items(call).get(id) : undefined;
  if (stored?.account !== accountOf(call)) return undefined;
  const { item, images, reasoning } = stored;
  if (images.length === 0) return { item, reasoning };
  return { item: JSON.parse(jsonParts(item, images).map(String).join('')) as Item, reasoning };
}

/** Encrypted content is good for the account that it was made for and, of a reasoning item, with that item's id alone. */
export function encrypt(call: Call, kind: 'reasoning' | 'compaction', text: string): string {
  return seal(`${accountOf(call)} ${kind} ${text}`);
}

/** The text, or undefined for what this account did not get from here. */
export function decrypt(call: Call, kind: 'reasoning' | 'compaction', content: string): string | undefined {
  const opening = `${accountOf(call)} ${kind} `;
  const text = unseal(content);
  return text?.startsWith(opening) ? text.slice(opening.length) : undefined;
}
