import {
  failedVideo,
  filmSeconds,
  isObject,
  type JsonObject,
  type JsonValue,
  percentOf,
  stateObject,
  unusableAnswer,
  type VideoState,
  vendorId,
} from '../../../engine/plugin.ts';

export const decodeCreated = (body: JsonValue): string => vendorId(stateObject(body).request_id);

/** While a video is being made the body may be empty. */
export function decodeState(body: JsonValue): VideoState {
  if (body === null) return { state: 'in_progress', progress: null };
  const value = stateObject(body);
  if (value.status === 'pending') return { state: 'in_progress', progress: percentOf(value.progress) };
  if (value.status === 'done') return resultOf(isObject(value.video) ? value.video : {});
  if (value.status === 'expired')
    return { state: 'failed', code: 'video_expired', message: 'The vendor did not finish the video in time.' };
  if (value.status !== 'failed') throw unusableAnswer('the video has no status');
  const error = isObject(value.error) ? value.error : {};
  return failedVideo(error.code, error.message ?? value.error);
}

/** Done without respect for moderation is refused; a copy that the vendor was asked to keep goes before the temporary one. */
function resultOf(video: JsonObject): VideoState {
  if (video.respect_moderation === false) return failedVideo('content_moderation', null);
  const kept = isObject(video.file_output) ? video.file_output.public_url : null;
  const url = kept ?? video.url;
  if (typeof url !== 'string' || url === '' || url.length > 8192) return failedVideo(null, null);
  return { state: 'completed', seconds: filmSeconds(video.duration), file: { kind: 'url', url, authorized: false } };
}
