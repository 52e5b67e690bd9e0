import { anthropicError, type ChatProtocol, defineProtocol } from '../../engine/plugin.ts';
import { count } from './anthropic-messages/count.ts';
import { decodeReply } from './anthropic-messages/decode-reply.ts';
import { decodeRequest } from './anthropic-messages/decode-request.ts';
import { decodeStream } from './anthropic-messages/decode-stream.ts';
import { encodeReply } from './anthropic-messages/encode-reply.ts';
import { encodeRequest, takesStop } from './anthropic-messages/encode-request.ts';
import { encodeStream } from './anthropic-messages/encode-stream.ts';
import { decodeError } from './anthropic-messages/errors.ts';
import { features } from './anthropic-messages/features.ts';
import { protocolName } from './anthropic-messages/fields.ts';
import { readCall } from './anthropic-messages/read-call.ts';
import { relay } from './anthropic-messages/relay.ts';

/** `/messages` and `/messages/count_tokens` as Anthropic’s clients send them, and for vendors that speak them. */
export default defineProtocol<ChatProtocol>({
  kind: 'chat',
  name: protocolName,
  summary: 'Anthropic’s messages, whole and streamed, and the counting of their tokens.',
  readCall,
  relay,
  decodeRequest,
  encodeRequest,
  decodeReply,
  decodeStream,
  isLastFrame: ({ event }) => event === 'message_stop',
  encodeReply,
  encodeStream,
  encodeError: anthropicError,
  decodeError,
  takesStop,
  toolNames: { pattern: /^[a-zA-Z0-9_-]{1,128}$/, longest: 128 },
  count,
  features,
  passedHeaders: ['anthropic-version', 'anthropic-beta'],
  requestIdHeader: 'request-id',
});
