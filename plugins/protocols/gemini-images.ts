import { defineProtocol, type ImageProtocol, readGoogleError } from '../../engine/plugin.ts';
import { decodeReply } from './gemini-images/decode-answer.ts';
import { encodeRequest } from './gemini-images/encode-request.ts';

/**
 * Images through Gemini's generateContent: one image an answer, no mask, no stream. Fields of the client that Gemini has
 * no word for (`user`, `moderation`, `output_format`, …) are left out; the answer tells the format that came.
 */
export default defineProtocol<ImageProtocol>({
  kind: 'image',
  name: 'gemini-images',
  summary: 'Image generation and editing through Gemini’s generateContent.',
  vendor: { encodeRequest, decodeReply, decodeError: readGoogleError },
});
