/** A vendor's ranking, checked: Cohere's and Jina's look the same. */
import type { RerankRequest, RerankResult } from '../../contract/direct.ts';
import type { JsonValue } from '../../contract/values.ts';
import { isObject } from '../openai/fields.ts';
import { unusableAnswer } from '../vendor-answer.ts';

/**
 * `results` of `{index, relevance_score}`, best first and no more than were asked for. Throws
 * `upstream_invalid_response` for an index that no document has, or that comes twice.
 */
export function readRanking(
  results: JsonValue | undefined,
  { documents, topN, extra }: RerankRequest,
): RerankResult['ranking'] {
  // A vendor's own field may be a threshold that no document comes to.
  const least = Object.keys(extra).length === 0 ? 1 : 0;
  if (!Array.isArray(results) || results.length < least) throw unusableAnswer('no results');
  const seen = new Set<number>();
  const ranking = results.map((result) => {
    const { index, relevance_score: score } = isObject(result) ? result : {};
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= documents.length)
      throw unusableAnswer('a result for a document that was not sent');
    if (seen.has(index)) throw unusableAnswer('two results for one document');
    if (typeof score !== 'number' || !Number.isFinite(score)) throw unusableAnswer('a result without a score');
    seen.add(index);
    return { index, score };
  });
  return ranking.sort((one, other) => other.score - one.score).slice(0, topN ?? documents.length);
}
