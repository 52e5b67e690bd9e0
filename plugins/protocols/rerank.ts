import {
  type DirectProtocol,
  defineProtocol,
  openAiError,
  type RerankRequest,
  type RerankResult,
} from '../../engine/plugin.ts';
import { encodeReply } from './rerank/encode-reply.ts';
import { decodeRequest, readCall } from './rerank/read-call.ts';

/** `/rerank`: no vendor's own form, but what clients of Cohere and Jina both send, answered so that both can read it. */
export default defineProtocol<DirectProtocol<RerankRequest, RerankResult>>({
  kind: 'direct',
  name: 'rerank',
  summary: 'Rerank requests in Cohere’s and in Jina’s form.',
  operation: 'rerank',
  client: { accepts: 'json', readCall, decodeRequest, encodeReply, encodeError: openAiError },
});
