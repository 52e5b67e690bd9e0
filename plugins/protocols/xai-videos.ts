import { defineProtocol, readOpenAiError, type VideoProtocol } from '../../engine/plugin.ts';
import { decodeCreated, decodeState } from './xai-videos/decode-state.ts';
import { encodeRequest } from './xai-videos/encode-request.ts';

/** xAI’s videos. Edits and extensions are not served. */
export default defineProtocol<VideoProtocol>({
  kind: 'video',
  name: 'xai-videos',
  summary: 'xAI videos: text, image and references to video.',
  vendor: { encodeRequest, decodeCreated, decodeState, decodeError: readOpenAiError },
});
