import { type ChatProtocol, defineProtocol, readGoogleError } from '../../engine/plugin.ts';
import { count } from './gemini-generate/count.ts';
import { decodeReply, decodeStream } from './gemini-generate/decode-answer.ts';
import { decodeRequest } from './gemini-generate/decode-request.ts';
import { takesStop } from './gemini-generate/encode-config.ts';
import { encodeReply } from './gemini-generate/encode-reply.ts';
import { encodeRequest } from './gemini-generate/encode-request.ts';
import { encodeStream } from './gemini-generate/encode-stream.ts';
import { features } from './gemini-generate/features.ts';
import { formOf } from './gemini-generate/frames.ts';
import { images } from './gemini-generate/images.ts';
import { encodeError, readCall } from './gemini-generate/read-call.ts';
import { relay } from './gemini-generate/relay.ts';

/**
 * `/v1beta/models/{model}:generateContent`, `:streamGenerateContent` and `:countTokens` (spec 4.1, 9) as Google's clients
 * send them, and for vendors that speak them.
 */
export default defineProtocol<ChatProtocol>({
  kind: 'chat',
  name: 'gemini-generate',
  summary: 'Gemini’s generateContent, whole, streamed as events or as one array, and counted.',
  readCall,
  relay,
  decodeRequest,
  encodeRequest,
  decodeReply,
  decodeStream,
  encodeReply,
  encodeStream,
  streamContentType: (call) => formOf(call).contentType,
  encodeError,
  takesStop,
  toolNames: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, longest: 64 },
  count,
  images,
  features,
  decodeError: readGoogleError,
});
