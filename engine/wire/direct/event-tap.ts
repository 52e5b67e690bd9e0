/** The tap of audio routes' events: OpenAI's typed events, of which one closes the stream and tells the usage. */
import type { Counts, DirectTap } from '../../contract/direct.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { type FrameReader, FrameTap } from '../frame-tap.ts';
import { isObject } from '../openai/fields.ts';
import { openAiStreamError } from '../openai/reply.ts';
import { plainError } from '../vendor-error.ts';
import { readPlainError } from './errors.ts';

export interface AudioEvents {
  /** Type of the event that closes the stream: `speech.audio.done`. */
  readonly last: string;
  /** What the last event tells. */
  readCounts(event: JsonObject): Counts;
  /** What can be told from it where it tells no usage; it is null where the stream broke off before. */
  estimate(event: JsonObject | null): Counts;
}

const eventError = /^event: ?error/m;

export function audioTap({ last, readCounts, estimate }: AudioEvents): DirectTap {
  let closing: JsonObject | null = null;
  let isFirst = true;
  const read: FrameReader = (text, notes, parse) => {
    const first = isFirst;
    isFirst = false;
    if (/^data: ?\[DONE\]\s*$/m.test(text)) {
      notes.finished = true;
      return 'hold';
    }
    // A delta may be megabytes of sound: only what tells something is parsed.
    const telling = first || text.includes(last) || text.includes('"error"') || eventError.test(text);
    const data = telling ? parse() : undefined;
    if (telling) notes.error = errorOf(text, data, first);
    if (!isObject(data) || data.type !== last) return 'pass';
    closing = data;
    notes.complete = true;
    return 'hold';
  };
  return {
    tap: new FrameTap(read, openAiStreamError),
    counts: () => (closing === null ? {} : readCounts(closing)),
    estimated: () => estimate(closing),
  };
}

/** A first event that is no JSON is no answer either. */
function errorOf(text: string, data: unknown, isFirst: boolean): VendorError | null {
  const isNamed = eventError.test(text) || (isObject(data) && data.type === 'error');
  const mayTell = isObject(data) && (isNamed || data.type === undefined);
  const reported = mayTell ? readPlainError(data as JsonValue) : null;
  if (reported !== null || isNamed) return reported ?? plainError(text.slice(0, 1000));
  return isFirst && !isObject(data) ? plainError('an event of the stream is not JSON') : null;
}
