import type { Bench } from '../bench.ts';
import type { Row } from '../results.ts';
import { compare } from './load-rows.ts';

/** One text in, 1,536 numbers out. */
export function embeddings(bench: Bench): Promise<Row[]> {
  const body = JSON.stringify({
    model: 'demo-embedding',
    input: 'A sentence of some words, to be found again. '.repeat(8),
  });
  return compare(bench, {
    what: 'embeddings, 1,536 numbers, c=64',
    load: { path: '/v1/embeddings', body, connections: 64 },
    nginx: true,
  });
}
