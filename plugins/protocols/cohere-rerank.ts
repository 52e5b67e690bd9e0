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

function encodeRequest(request: RerankRequest, vendorModel: string): JsonObject {
  const { query, documents, topN, maxTokensPerDocument, extra } = request;
  return {
    ...extra,
    ...present({ model: vendorModel, query, top_n: topN, max_tokens_per_doc: maxTokensPerDocument }),
    documents: [...documents],
  };
}

function decodeReply(body: JsonValue, request: RerankRequest) {
  if (!isObject(body)) throw unusableAnswer('no JSON object');
  const { id, results, meta } = body;
  const units = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {};
  const counts = { ...counted('searchUnits', units.search_units), ...counted('input', units.input_tokens) };
  return { result: { id: typeof id === 'string' ? id : null, ranking: readRanking(results, request) }, counts };
}

/** `/v2/rerank` of Cohere. */
export default defineProtocol<DirectProtocol<RerankRequest, RerankResult>>({
  kind: 'direct',
  name: 'cohere-rerank',
  summary: 'Cohere rerank, version 2.',
  operation: 'rerank',
  vendor: {
    encodeRequest,
    decodeReply,
    // A ranking may carry a `message` of its own (warnings of trial keys).
    decodeError: (body) => (isObject(body) && Array.isArray(body.results) ? null : readPlainError(body)),
  },
});
