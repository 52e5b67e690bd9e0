import {
  type ChatProtocol,
  defineProtocol,
  openAiError,
  openAiTakesStop,
  openAiToolNames,
  readOpenAiError,
} from '../../engine/plugin.ts';
import { decodeReply } from './openai-chat/decode-reply.ts';
import { decodeRequest } from './openai-chat/decode-request.ts';
import { decodeStream } from './openai-chat/decode-stream.ts';
import { images } from './openai-chat/draw.ts';
import { encodeReply } from './openai-chat/encode-reply.ts';
import { encodeRequest } from './openai-chat/encode-request.ts';
import { encodeStream } from './openai-chat/encode-stream.ts';
import { features } from './openai-chat/features.ts';
import { readCall } from './openai-chat/read-call.ts';
import { relay } from './openai-chat/relay.ts';

/** `/chat/completions` (spec 2.8, 2.9, 4.4, 6.2) as OpenAI's clients send it, and for vendors that speak it. */
export default defineProtocol<ChatProtocol>({
  kind: 'chat',
  name: 'openai-chat',
  summary: 'OpenAI chat completions, whole and streamed.',
  readCall,
  relay,
  decodeRequest,
  encodeRequest,
  decodeReply,
  decodeStream,
  encodeReply,
  encodeStream,
  encodeError: openAiError,
  decodeError: readOpenAiError,
  takesStop: openAiTakesStop,
  toolNames: openAiToolNames,
  features,
  images,
});
