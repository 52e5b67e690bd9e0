import { randomUUID } from 'node:crypto';
import type { Counts, DirectCall, JsonObject, JsonValue, RerankResult } from '../../../engine/plugin.ts';

/** What Cohere's and Jina's clients read, together. Documents stand in it where they were asked for. */
export function encodeReply({ id, ranking }: RerankResult, { model, body }: DirectCall, counts: Counts): JsonObject {
  const documents = body.return_documents === true ? (body.documents as JsonValue[]) : null;
  const results = ranking.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(documents === null ? {} : { document: documentAt(documents, index) }),
  }));
  const tokens = counts.input ?? 0;
  return {
    id: id ?? `rerank-${randomUUID()}`,
    object: 'list',
    model,
    results,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    meta: { api_version: { version: '2' }, billed_units: { search_units: counts.searchUnits ?? 0 } },
  };
}

/** As it was sent; a bare text becomes an object, as both vendors write it. */
function documentAt(documents: readonly JsonValue[], index: number): JsonValue {
  const document = documents[index]!;
  return typeof document === 'string' ? { text: document } : document;
}
