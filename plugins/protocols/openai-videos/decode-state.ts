/** OpenAI's video object, and the words of vendors that are merely alike. */
import {
  failedVideo,
  filmSeconds,
  isObject,
  type JsonValue,
  percentOf,
  stateObject,
  unusableAnswer,
  type VideoState,
  vendorId,
} from '../../../engine/plugin.ts';

const states: Readonly<Record<string, VideoState['state']>> = {
  queued: 'queued',
  pending: 'queued',
  submitted: 'queued',
  in_progress: 'in_progress',
  processing: 'in_progress',
  running: 'in_progress',
  completed: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
};

export function decodeCreated(body: JsonValue): string {
  const { id, task_id: taskId } = stateObject(body);
  return vendorId(id ?? taskId);
}

export function decodeState(body: JsonValue): VideoState {
  const value = stateObject(body);
  const { status } = value;
  if (typeof status !== 'string' || !Object.hasOwn(states, status)) throw unusableAnswer('the video has no status');
  const state = states[status]!;
  if (state === 'completed') return { state, seconds: filmSeconds(value.seconds), file: { kind: 'content' } };
  if (state !== 'failed') return { state, progress: percentOf(value.progress) };
  if (status === 'expired') return { state, code: 'video_expired', message: 'The vendor gave the video up.' };
  const error = isObject(value.error) ? value.error : {};
  return failedVideo(error.code, error.message);
}
