/** A long running operation: `done` is absent until it has ended, and a filtered video ends well but without samples. */
import {
  failedVideo,
  isObject,
  type JsonObject,
  type JsonValue,
  stateObject,
  unusableAnswer,
  type VideoState,
  vendorId,
} from '../../../engine/plugin.ts';

/** `google.rpc.Code`: the vendor ran out of time. */
const deadlineExceeded = 4;

const object = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** The operation's name is the path to it. */
export const decodeCreated = (body: JsonValue): string => vendorId(stateObject(body).name);

export function decodeState(body: JsonValue): VideoState {
  const { name, done, error, response } = stateObject(body);
  if (isObject(error)) return failureOf(error);
  if (done === true) return resultOf(object(object(response).generateVideoResponse));
  if (typeof name === 'string') return { state: 'in_progress', progress: null };
  throw unusableAnswer('no operation');
}

function failureOf({ code, message }: JsonObject): VideoState {
  if (code === deadlineExceeded)
    return { state: 'failed', code: 'video_expired', message: 'The vendor did not finish the video in time.' };
  return failedVideo(null, message);
}

function resultOf({ generatedSamples, raiMediaFilteredReasons }: JsonObject): VideoState {
  const [sample] = Array.isArray(generatedSamples) ? generatedSamples : [];
  const { uri } = object(object(sample).video);
  if (typeof uri === 'string' && uri.length <= 8192)
    return { state: 'completed', seconds: null, file: { kind: 'url', url: uri, authorized: true } };
  if (!Array.isArray(raiMediaFilteredReasons) || raiMediaFilteredReasons.length === 0) return failedVideo(null, null);
  const [reason] = raiMediaFilteredReasons;
  const message = typeof reason === 'string' ? reason.slice(0, 1000) : 'The video was refused by the safety system.';
  return { state: 'failed', code: 'moderation_blocked', message };
}
