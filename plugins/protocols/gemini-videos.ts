import { defineProtocol, readGoogleError, type VideoProtocol } from '../../engine/plugin.ts';
import { decodeCreated, decodeState } from './gemini-videos/decode-state.ts';
import { encodeRequest } from './gemini-videos/encode-request.ts';

/** Veo through the Gemini API: a long running operation, and a file that only the key opens. */
export default defineProtocol<VideoProtocol>({
  kind: 'video',
  name: 'gemini-videos',
  summary: 'Veo: long running operations of the Gemini API.',
  vendor: { encodeRequest, decodeCreated, decodeState, decodeError: readGoogleError },
});
