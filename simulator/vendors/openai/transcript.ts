import type { Call } from '../../contract.ts';
import { composeReply, countTokens, type ReplyText } from '../../reply-text.ts';
import { readSteering, type Steering } from '../../steering.ts';
import { DIARIZE, type TranscriptionRequest } from './transcription-request.ts';

const AUDIO_TOKENS_PER_SECOND = 10;

/** A piece of the text with the seconds in which it is said. */
export interface Cue {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface Transcript {
  readonly request: TranscriptionRequest;
  readonly reply: ReplyText;
  readonly cues: readonly Cue[];
  readonly steering: Steering;
}

/** What was heard: the file's name and its size, steered by the prompt or, where there may be none, by the name. */
export function transcribe(request: TranscriptionRequest): Transcript {
  const { file, prompt = '' } = request;
  const steering = readSteering(`${file.name} ${prompt}`);
  const reply = composeReply(`${file.name} of ${file.bytes} bytes`, steering);
  return { request, reply, cues: spread(reply.pieces, file.seconds), steering };
}

/** Evenly over the length of the sound, to the millisecond. */
export function spread(texts: readonly string[], seconds: number): Cue[] {
  const at = (index: number): number => Math.round((seconds * 1000 * index) / texts.length) / 1000;
  return texts.map((text, index) => ({ text, start: at(index), end: at(index + 1) }));
}

/** whisper-1 and diarization report seconds, the other models tokens. */
export function usageOf({ request, reply }: Transcript, call: Call): object {
  if (call.fault.nousage) return {};
  const { model, file } = request;
  return model === 'whisper-1' || model === DIARIZE
    ? { usage: { type: 'duration', seconds: Math.ceil(file.seconds) } }
    : { usage: tokenUsage(request, reply) };
}

export function tokenUsage({ prompt = '', file }: TranscriptionRequest, reply: ReplyText): unknown {
  const text = countTokens(prompt);
  const audio = Math.ceil(file.seconds * AUDIO_TOKENS_PER_SECOND);
  return {
    type: 'tokens',
    input_tokens: text + audio,
    input_token_details: { text_tokens: text, audio_tokens: audio },
    output_tokens: reply.tokens,
    total_tokens: text + audio + reply.tokens,
  };
}

export const speakerOf = ({ known_speaker_names: names = ['A', 'B'] }: TranscriptionRequest, index: number): string =>
  names[index % names.length]!;

export const segmentId = (index: number): string => `seg_${String(index + 1).padStart(3, '0')}`;

export const logprobOf = (token: string): unknown => ({ token, logprob: -0.1, bytes: [...Buffer.from(token)] });
