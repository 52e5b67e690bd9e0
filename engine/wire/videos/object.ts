/** OpenAI's video object, with what the gateway adds to it: the state of the stored copy and its signed URL. */
import type { JsonObject } from '../../contract/values.ts';
import type { VideoView } from '../../contract/video.ts';

/** Clients that know only OpenAI's form parse `size` where the vendor was told none. */
const unknownSize = '';

/** Every key that OpenAI's schema requires, and `metadata` (spec 2.11). */
export function videoObject(video: VideoView): JsonObject {
  return {
    id: video.id,
    object: 'video',
    model: video.model,
    status: video.status,
    progress: video.progress,
    created_at: video.createdAt,
    completed_at: video.completedAt,
    expires_at: null,
    prompt: video.prompt,
    seconds: String(video.seconds),
    size: video.size ?? unknownSize,
    remixed_from_video_id: null,
    error: video.error === null ? null : { ...video.error },
    metadata: videoMetadata(video),
  };
}

export function videoMetadata({ storage, url, urlExpiresAt }: VideoView): JsonObject {
  const { status, bytes, contentType, sha256, error } = storage;
  return {
    url,
    url_expires_at: urlExpiresAt,
    storage: { status, bytes, content_type: contentType, sha256, error },
  };
}
