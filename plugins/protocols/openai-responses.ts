import { type ChatProtocol, defineProtocol, openAiError, openAiToolNames } from '../../engine/plugin.ts';
import { count } from './openai-responses/count.ts';
import { decodeReply } from './openai-responses/decode-reply.ts';
import { decodeRequest } from './openai-responses/decode-request.ts';
import { decodeStream } from './openai-responses/decode-stream.ts';
import { images } from './openai-responses/draw.ts';
import { encodeRequest } from './openai-responses/encode-request.ts';
import { encodeReply, encodeStream } from './openai-responses/encode-stream.ts';
import { decodeError } from './openai-responses/errors.ts';
import { features } from './openai-responses/features.ts';
import { readCall } from './openai-responses/read-call.ts';
import { relay } from './openai-responses/relay.ts';
import { state } from './openai-responses/state.ts';

const terminal: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

/** `/responses` as OpenAI's clients and coding agents send it, and for vendors that speak it. */
export default defineProtocol<ChatProtocol>({
  kind: 'chat',
  name: 'openai-responses',
  summary: 'OpenAI responses, whole and streamed.',
  readCall,
  relay,
  decodeRequest,
  encodeRequest,
  decodeReply,
  decodeStream,
  isLastFrame: ({ event }) => event !== null && terminal.has(event),
  encodeReply,
  encodeStream,
  encodeError: openAiError,
  takesStop: () => false,
  toolNames: openAiToolNames,
  count,
  state,
  images,
  features,
  decodeError,
});
