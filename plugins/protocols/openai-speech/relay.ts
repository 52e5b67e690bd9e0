/** What the gateway reads of a request to speak and of its answer; the rest passes. */
import {
  type AnswerShape,
  audioTap,
  type Counts,
  counted,
  type DirectCall,
  type DirectReply,
  type DirectTap,
  estimatedUsage,
  isEventStream,
  isObject,
  type JsonObject,
  type JsonValue,
  readPlainError,
  requiredString,
  stringOrNull,
  textTokens,
} from '../../../engine/plugin.ts';

const typeOf: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};
const standardFormat = 'mp3';
/** Fifteen characters take a second, a second twenty tokens. */
const spokenTokensPerCharacter = 4 / 3;
const openingBrace = 0x7b;

/** As people count them: an emoji is one. */
function codePoints(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}

export function readCall(body: JsonObject): DirectCall {
  const model = requiredString(body, 'model');
  const input = requiredString(body, 'input');
  const instructions = stringOrNull(body.instructions, 'instructions') ?? '';
  const stream = stringOrNull(body.stream_format, 'stream_format') === 'sse';
  const characters = codePoints(input);
  const output = Math.ceil(characters * spokenTokensPerCharacter);
  const read = textTokens(input) + textTokens(instructions);
  const bound = estimatedUsage({ characters, input: read, output, audioOutput: output });
  return { kind: 'direct', operation: 'audio.speech', model, stream, bound, known: { characters }, body, form: null };
}

const formatOf = ({ body }: DirectCall): string =>
  typeof body.response_format === 'string' ? body.response_format : standardFormat;

const isSound = (contentType: string): boolean => /^(audio\/|application\/ogg\b)/i.test(contentType);

/** Vendors that do not say what they send may send an error: no sound but raw samples begins with a brace. */
function isBare(contentType: string, call: DirectCall, first: Buffer): boolean {
  if (contentType !== '' && !/^(application|binary)\/octet-stream\b/i.test(contentType)) return false;
  return first[0] !== openingBrace || formatOf(call) === 'pcm';
}

/** Not every model speaks in events: sound is an answer also where they were asked for. */
export function shape(call: DirectCall, contentType: string, first: Buffer): AnswerShape | null {
  if (call.stream && isEventStream(contentType)) return 'events';
  if (first.length === 0) return null;
  if (isSound(contentType) || isBare(contentType, call, first)) return 'bytes';
  // An error with status 200, or nothing that can be used.
  return first[0] === openingBrace ? 'whole' : null;
}

/** By the format that was asked for, where the vendor does not say. */
export function bytesType(call: DirectCall, contentType: string): string {
  if (isSound(contentType)) return contentType;
  const format = formatOf(call);
  return Object.hasOwn(typeOf, format) ? typeOf[format]! : 'application/octet-stream';
}

/** Sound is never read as a whole: here only an error can stand. */
export function readReply(body: Buffer): DirectReply {
  const error = readPlainError(JSON.parse(body.toString('utf8')) as JsonValue);
  if (error === null) throw new Error('an answer without sound');
  return { body, counts: {}, error };
}

function readCounts({ usage }: JsonObject): Counts {
  if (!isObject(usage)) return {};
  const { output } = counted('output', usage.output_tokens);
  return {
    ...counted('input', usage.input_tokens),
    ...(output === undefined ? {} : { output, audioOutput: output }),
  };
}

export const tapEvents = (): DirectTap => audioTap({ last: 'speech.audio.done', readCounts, estimate: () => ({}) });
