import { defineProtocol, type ImageProtocol } from '../../engine/plugin.ts';
import { decodeError, decodeReply } from './xai-images/decode-answer.ts';
import { encodeRequest } from './xai-images/encode-request.ts';

/**
 * xAI's images: JSON both ways, no stream, no mask. Base64 is always asked for: xAI's own links must not reach a client.
 * Fields of the client that xAI has no word for (`moderation`, `output_format`, …) are left out, `user` is kept.
 */
export default defineProtocol<ImageProtocol>({
  kind: 'image',
  name: 'xai-images',
  summary: 'Image generation and editing through xAI’s JSON routes.',
  vendor: { encodeRequest, decodeReply, decodeError },
});
