/** What `response.done` and finished transcripts say was used; all of it is hostile until it was read here. */
import {
  countOf,
  credibleUsage,
  isObject,
  type JsonObject,
  type JsonValue,
  noUsage,
  type Usage,
} from '../../../engine/plugin.ts';

/** A transcript is of no more than a session can hold. */
const mostSeconds = 86_400;

const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** Null where there are no counts, or absurd ones. Cached sound counts as cached, not as sound. */
export function readUsage(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null;
  if (value.type === 'duration') return readDuration(value);
  if (typeof value.input_tokens !== 'number' && typeof value.output_tokens !== 'number') return null;
  const heard = objectOf(value.input_token_details);
  const said = objectOf(value.output_token_details);
  const tokens = credibleUsage({
    input: countOf(value.input_tokens),
    cachedInput: countOf(heard.cached_tokens),
    cacheWrite: 0,
    output: countOf(value.output_tokens),
    reasoning: 0,
  });
  if (tokens === null) return null;
  const { input, cachedInput, output } = tokens;
  const audio = countOf(heard.audio_tokens);
  const freshAudio = audio - Math.min(audio, cachedAudio(heard, cachedInput));
  return {
    ...noUsage,
    ...tokens,
    audioInput: Math.min(input - cachedInput, freshAudio),
    audioOutput: Math.min(output, countOf(said.audio_tokens)),
  };
}

/** Where the vendor does not say what was cached, text was. */
function cachedAudio(heard: JsonObject, cached: number): number {
  const details = objectOf(heard.cached_tokens_details);
  if (details.audio_tokens !== undefined) return countOf(details.audio_tokens);
  return Math.max(0, cached - countOf(heard.text_tokens) - countOf(heard.image_tokens));
}

function readDuration({ seconds }: JsonObject): Usage | null {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= mostSeconds)) return null;
  return { ...noUsage, seconds };
}
