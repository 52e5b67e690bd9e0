/** What `response.done` and finished transcripts say was used; all of it is hostile until it was read here. */
import { isObject, type JsonObject, type JsonValue, noUsage, type Usage } from '../../../engine/plugin.ts';

/** No answer has a billion tokens: a vendor that says so is not believed, and the usage is estimated. */
const mostTokens = 1e9;
/** A transcript is of no more than a session can hold. */
const mostSeconds = 86_400;

const count = (value: JsonValue | undefined): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** Null where there are no counts, or absurd ones. Cached sound counts as cached, not as sound. */
export function readUsage(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null;
  if (value.type === 'duration') return readDuration(value);
  if (typeof value.input_tokens !== 'number' && typeof value.output_tokens !== 'number') return null;
  const input = count(value.input_tokens);
  const output = count(value.output_tokens);
  if (input > mostTokens || output > mostTokens) return null;
  const heard = objectOf(value.input_token_details);
  const said = objectOf(value.output_token_details);
  const cachedInput = Math.min(input, count(heard.cached_tokens));
  const freshAudio = count(heard.audio_tokens) - Math.min(count(heard.audio_tokens), cachedAudio(heard, cachedInput));
  return {
    ...noUsage,
    input,
    cachedInput,
    audioInput: Math.min(input - cachedInput, freshAudio),
    output,
    audioOutput: Math.min(output, count(said.audio_tokens)),
  };
}

/** Where the vendor does not say what was cached, text was. */
function cachedAudio(heard: JsonObject, cached: number): number {
  const details = objectOf(heard.cached_tokens_details);
  if (details.audio_tokens !== undefined) return count(details.audio_tokens);
  return Math.max(0, cached - count(heard.text_tokens) - count(heard.image_tokens));
}

function readDuration({ seconds }: JsonObject): Usage | null {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= mostSeconds)) return null;
  return { ...noUsage, seconds };
}
