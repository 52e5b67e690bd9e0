import { wordsOf } from './vectors.ts';

const LEAST = 0.01;
const COVERAGE = 0.9;
const DENSITY = 0.08;

export interface Ranked {
  /** Place in the list that was given. */
  readonly index: number;
  /** From 0.01, no word in common, to 0.99. */
  readonly score: number;
}

/** Documents by how many of the query's words they hold, and then by how little else; equals keep their order. */
export function rankDocuments(query: string, documents: readonly string[]): Ranked[] {
  const wanted = new Set(wordsOf(query));
  return documents
    .map((document, index) => ({ index, score: scoreOf(wanted, new Set(wordsOf(document))) }))
    .sort((first, second) => second.score - first.score || first.index - second.index);
}

function scoreOf(wanted: ReadonlySet<string>, present: ReadonlySet<string>): number {
  const shared = [...wanted].filter((word) => present.has(word)).length;
  const score = LEAST + (COVERAGE * shared) / Math.max(1, wanted.size) + (DENSITY * shared) / Math.max(1, present.size);
  return Number(score.toFixed(7));
}
