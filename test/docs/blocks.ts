/** The fenced blocks of a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Block {
  /** `sh`, `yaml`, … and what stands behind it. */
  readonly language: string;
  readonly note: string;
  readonly text: string;
  /** Line of the document where the text begins, from 1. */
  readonly line: number;
}

export const readDocument = (name: string): string => readFileSync(join(root, name), 'utf8');

export function blocksOf(document: string): Block[] {
  return [...document.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    note: match[2] ?? '',
    text: match[3] ?? '',
    line: document.slice(0, match.index).split('\n').length + 1,
  }));
}
