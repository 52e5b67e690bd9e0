import { defineProtocol, type ImageProtocol } from '../../engine/plugin.ts';
import { decodeError, decodeReply, decodeStream } from './openai-images/decode-answer.ts';
import { encodeError, encodeEvent, encodeResult, encodeStreamError } from './openai-images/encode-answer.ts';
import { encodeRequest } from './openai-images/encode-request.ts';
import { readCall } from './openai-images/read-call.ts';

/** `/images/generations` and `/images/edits` as OpenAI's clients send them, and for vendors that speak them. */
export default defineProtocol<ImageProtocol>({
  kind: 'image',
  name: 'openai-images',
  summary: 'OpenAI image generations and edits, whole and streamed.',
  client: { readCall, encodeResult, encodeEvent, terminator: 'data: [DONE]\n\n', encodeError, encodeStreamError },
  vendor: { encodeRequest, decodeReply, decodeStream, decodeError },
});
