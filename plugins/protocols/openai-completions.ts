import {
  type ChatProtocol,
  defineProtocol,
  openAiError,
  openAiRelay,
  openAiTakesStop,
  readOpenAiError,
} from '../../engine/plugin.ts';
import { decodeReply, decodeStream } from './openai-completions/decode-answer.ts';
import { decodeRequest } from './openai-completions/decode-request.ts';
import { encodeReply } from './openai-completions/encode-reply.ts';
import { encodeRequest } from './openai-completions/encode-request.ts';
import { encodeStream } from './openai-completions/encode-stream.ts';
import { features } from './openai-completions/features.ts';
import { readCall } from './openai-completions/read-call.ts';

/** `/completions`, the older text protocol of OpenAI's clients, and for vendors that speak it. */
export default defineProtocol<ChatProtocol>({
  kind: 'chat',
  name: 'openai-completions',
  summary: 'OpenAI legacy text completions, whole and streamed.',
  readCall,
  relay: openAiRelay(({ text }) => (typeof text === 'string' ? text : '')),
  decodeRequest,
  encodeRequest,
  decodeReply,
  decodeStream,
  encodeReply,
  encodeStream,
  encodeError: openAiError,
  decodeError: readOpenAiError,
  takesStop: openAiTakesStop,
  features,
});
