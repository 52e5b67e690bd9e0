import {
  type DirectProtocol,
  defineProtocol,
  type EmbeddingsRequest,
  type EmbeddingsResult,
  openAiError,
  readPlainError,
} from '../../engine/plugin.ts';
import { encodeReply } from './openai-embeddings/encode-reply.ts';
import { decodeRequest, readCall } from './openai-embeddings/read-call.ts';
import { readReply } from './openai-embeddings/relay.ts';

/** `/embeddings` as OpenAI's clients ask for them, and for vendors that speak it. */
export default defineProtocol<DirectProtocol<EmbeddingsRequest, EmbeddingsResult>>({
  kind: 'direct',
  name: 'openai-embeddings',
  summary: 'OpenAI embeddings, as numbers or as Base64.',
  operation: 'embeddings',
  client: { accepts: 'json', readCall, decodeRequest, encodeReply, encodeError: openAiError },
  relay: { shape: () => 'whole', reply: readReply, decodeError: readPlainError },
});
