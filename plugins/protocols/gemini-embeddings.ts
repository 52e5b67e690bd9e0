import {
  type DirectProtocol,
  defineProtocol,
  type EmbeddingsRequest,
  type EmbeddingsResult,
  isObject,
  type JsonObject,
  type JsonValue,
  present,
  readGoogleError,
  unsupported,
  unusableAnswer,
} from '../../engine/plugin.ts';

/** Google takes no more in one batch. */
const mostInputs = 100;

function encodeRequest({ inputs, dimensions }: EmbeddingsRequest, vendorModel: string): JsonObject {
  if (inputs.length > mostInputs)
    throw unsupported('input', `may have at most ${mostInputs} entries for the vendor of this model.`);
  const requests = inputs.map((text) => {
    if (typeof text !== 'string') throw unsupported('input', 'must be text: the vendor of this model takes no tokens.');
    const content = { parts: [{ text }] };
    return present({ model: `models/${vendorModel}`, content, outputDimensionality: dimensions });
  });
  return { requests };
}

function decodeReply(body: JsonValue, { inputs }: EmbeddingsRequest) {
  const embeddings = isObject(body) && Array.isArray(body.embeddings) ? body.embeddings : [];
  if (embeddings.length !== inputs.length) throw unusableAnswer('not one embedding for each input');
  const vectors = embeddings.map((embedding) => {
    const values = isObject(embedding) ? embedding.values : null;
    if (!Array.isArray(values) || values.length === 0 || !values.every(Number.isFinite))
      throw unusableAnswer('an embedding without numbers');
    return values as number[];
  });
  // Google tells no tokens here.
  return { result: { vectors }, counts: {} };
}

/** `:batchEmbedContents` of Google's Gemini API. */
export default defineProtocol<DirectProtocol<EmbeddingsRequest, EmbeddingsResult>>({
  kind: 'direct',
  name: 'gemini-embeddings',
  summary: 'Gemini embeddings, in batches.',
  operation: 'embeddings',
  vendor: { encodeRequest, decodeReply, decodeError: readGoogleError },
});
