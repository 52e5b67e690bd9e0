import {
  counted,
  type DirectProtocol,
  defineProtocol,
  isObject,
  type JsonObject,
  type JsonValue,
  present,
  type RerankRequest,
  type RerankResult,
  readPlainError,
  readRanking,
  unusableAnswer,
} from '../../engine/plugin.ts';

/** Cohere's `priority` changes no ranking. The gateway fills the documents in itself: they need not come back. */
function encodeRequest(request: RerankRequest, vendorModel: string): JsonObject {
  const { query, documents, topN, maxTokensPerDocument } = request;
  const { priority: _priority, ...extra } = request.extra;
  return {
    ...extra,
    ...present({ model: vendorModel, query, top_n: topN, max_doc_length: maxTokensPerDocument }),
    documents: [...documents],
    return_documents: false,
  };
}

function decodeReply(body: JsonValue, request: RerankRequest) {
  if (!isObject(body)) throw unusableAnswer('no JSON object');
  const { results, usage } = body;
  const tokens = isObject(usage) ? (usage.total_tokens ?? usage.prompt_tokens) : undefined;
  return { result: { id: null, ranking: readRanking(results, request) }, counts: counted('input', tokens) };
}

/** `/v1/rerank` of Jina, and of servers that copy it. */
export default defineProtocol<DirectProtocol<RerankRequest, RerankResult>>({
  kind: 'direct',
  name: 'jina-rerank',
  summary: 'Jina rerank.',
  operation: 'rerank',
  vendor: {
    encodeRequest,
    decodeReply,
    decodeError: (body) => (isObject(body) && Array.isArray(body.results) ? null : readPlainError(body)),
  },
});
