import {
  defineProtocol,
  openAiError,
  readOpenAiError,
  readVideoCall,
  type VideoProtocol,
  videoObject,
} from '../../engine/plugin.ts';
import { decodeCreated, decodeState } from './openai-videos/decode-state.ts';
import { encodeRequest } from './openai-videos/encode-request.ts';

/** OpenAI's videos, in both directions. Characters, remixes, edits and extensions are not served. */
export default defineProtocol<VideoProtocol>({
  kind: 'video',
  name: 'openai-videos',
  summary: 'OpenAI videos: tasks that are polled, and a file that is fetched.',
  client: {
    readCall: readVideoCall,
    encodeCreated: videoObject,
    encodeVideo: videoObject,
    encodePage({ videos, hasMore }) {
      return {
        object: 'list',
        data: videos.map(videoObject),
        first_id: videos[0]?.id ?? null,
        last_id: videos.at(-1)?.id ?? null,
        has_more: hasMore,
      };
    },
    encodeDeleted: (id) => ({ id, object: 'video.deleted', deleted: true }),
    encodeError: openAiError,
  },
  vendor: { encodeRequest, decodeCreated, decodeState, decodeError: readOpenAiError },
});
