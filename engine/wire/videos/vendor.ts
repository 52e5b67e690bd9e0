/** What the vendor sides of all video protocols share. */
import type { UpstreamBody } from '../../contract/image.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { VideoState } from '../../contract/video.ts';
import { isObject } from '../openai/fields.ts';
import { unusableAnswer } from '../vendor-answer.ts';

export const jsonUpstream = (value: JsonObject): UpstreamBody => ({
  contentType: 'application/json',
  pieces: [Buffer.from(JSON.stringify(value))],
});

/** Plain words with slashes between them, so that an id can only ever name what lies below its path. */
const idPattern = /^(?!\.+(?:\/|$))[\w.:~@-]+(?:\/(?!\.+(?:\/|$))[\w.:~@-]+)*$/;

/** The id that a vendor gave. Throws `upstream_invalid_response` for what is none. */
export function vendorId(value: JsonValue | undefined): string {
  if (typeof value === 'string' && value.length <= 300 && idPattern.test(value)) return value;
  throw unusableAnswer('the accepted task has no usable id');
}

/** The body as an object. Throws `upstream_invalid_response`. */
export function stateObject(body: JsonValue): JsonObject {
  if (isObject(body)) return body;
  throw unusableAnswer('no JSON object');
}

/** Percent; null where the value is none. */
export function percentOf(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' ? Number.parseFloat(value) : value;
  if (typeof number !== 'number' || !(number >= 0 && number <= 100)) return null;
  return Math.floor(number);
}

/** Seconds of a film; null where the value is none. */
export function filmSeconds(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 && number <= 86_400 ? number : null;
}

const moderationWords = /moderation|safety|content.?policy|usage guidelines|prohibited/i;

/** A failed video, with the reason told apart by the vendor's own words. */
export function failedVideo(code: JsonValue | undefined, message: JsonValue | undefined): VideoState {
  const said = typeof message === 'string' && message !== '' ? message.slice(0, 1000) : null;
  const isBlocked = moderationWords.test(`${typeof code === 'string' ? code : ''} ${said ?? ''}`);
  return {
    state: 'failed',
    code: isBlocked ? 'moderation_blocked' : 'video_generation_failed',
    message:
      said ?? (isBlocked ? 'The video was refused by the safety system.' : 'The vendor could not make the video.'),
  };
}
