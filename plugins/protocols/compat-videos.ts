import {
  defineProtocol,
  type JsonObject,
  openAiError,
  readVideoCall,
  type VideoProtocol,
  type VideoView,
  videoMetadata,
  videoObject,
} from '../../engine/plugin.ts';

/** The flat form: whichever name older clients look for, it is there. */
function flatVideo(video: VideoView): JsonObject {
  const format = video.storage.contentType?.split('/')[1] ?? null;
  return {
    ...videoObject(video),
    task_id: video.id,
    url: video.url,
    format,
    metadata: { ...videoMetadata(video), duration: video.seconds },
  };
}

/** `POST /v1/video/generations` and its poll, as gateways of this kind have spoken them before OpenAI had videos. */
export default defineProtocol<VideoProtocol>({
  kind: 'video',
  name: 'compat-videos',
  summary: 'The compatible video route: OpenAI’s video object with `task_id`, `url` and `format` beside it.',
  client: {
    readCall: readVideoCall,
    encodeCreated: flatVideo,
    encodeVideo: flatVideo,
    encodePage: ({ videos, hasMore }) => ({ object: 'list', data: videos.map(flatVideo), has_more: hasMore }),
    encodeDeleted: (id) => ({ id, task_id: id, object: 'video.deleted', deleted: true }),
    encodeError: openAiError,
  },
});
