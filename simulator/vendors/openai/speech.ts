import { dataFrame, eventFrame, streamAnswer } from '../../answers.ts';
import { audioBytes, cutEvenly, wavHeader } from '../../audio.ts';
import {
  type Check,
  checkByType,
  checkChoice,
  checkDecimal,
  checkFields,
  checkObject,
  checkText,
  wrongValue,
} from '../../checks.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import { countTokens } from '../../reply-text.ts';
import { readSteering } from '../../steering.ts';
import { jsonBody, openaiHeaders, refuse, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const LONGEST_INPUT = 4096;
const CHARACTERS_PER_SECOND = 15;
const TOKENS_PER_SECOND = 20;
const SAMPLE_RATE = 24_000;

const OLD_VOICES = ['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'];
const VOICES = [...OLD_VOICES, 'ballad', 'verse', 'marin', 'cedar'];

interface AudioFormat {
  readonly type: string;
  readonly bytesPerSecond: number;
  /** What files of this format begin with. */
  readonly magic: readonly number[];
}

const FORMATS: Record<string, AudioFormat> = {
  mp3: { type: 'audio/mpeg', bytesPerSecond: 16_000, magic: [0xff, 0xf3, 0xe4, 0xc4] },
  opus: { type: 'audio/opus', bytesPerSecond: 4000, magic: [0x4f, 0x67, 0x67, 0x53] },
  aac: { type: 'audio/aac', bytesPerSecond: 16_000, magic: [0xff, 0xf1, 0x58, 0x40] },
  flac: { type: 'audio/flac', bytesPerSecond: 24_000, magic: [0x66, 0x4c, 0x61, 0x43] },
  wav: { type: 'audio/wav', bytesPerSecond: 2 * SAMPLE_RATE, magic: [] },
  pcm: { type: 'audio/pcm', bytesPerSecond: 2 * SAMPLE_RATE, magic: [] },
};

const FIELDS: Record<string, Check> = {
  model: checkText(),
  input: checkText(LONGEST_INPUT),
  voice: checkByType({ string: checkChoice(...VOICES), object: checkObject({ id: checkText() }, ['id']) }),
  instructions: checkText(),
  response_format: checkChoice(...Object.keys(FORMATS)),
  speed: checkDecimal(0.25, 4),
  stream_format: checkChoice('audio', 'sse'),
};

interface SpeechRequest {
  readonly input: string;
  readonly voice: string | { id: string };
  readonly response_format?: string | null;
  readonly speed?: number | null;
  readonly stream_format?: 'audio' | 'sse' | null;
}

/** `POST /v1/audio/speech`: sound in pieces, as bytes or as events. 15 characters take a second. */
export function answerSpeech(call: Call): Answer {
  const request = readRequest(call);
  const steering = readSteering(request.input);
  const { response_format: name, speed, stream_format: form } = request;
  const format = FORMATS[name ?? 'mp3']!;
  const seconds = request.input.length / CHARACTERS_PER_SECOND / (speed ?? 1);
  const length = steering.bytes ?? Math.ceil(seconds * format.bytesPerSecond);
  const pieces = soundOf(format, length, steering.chunks);
  if (form !== 'sse') return streamAnswer(pieces.map(dataFrame), steering.delay, openaiHeaders(), format.type);
  const output = steering.tokens ?? Math.ceil((length / format.bytesPerSecond) * TOKENS_PER_SECOND);
  return streamAnswer(eventsOf(pieces, countTokens(request.input), output, call), steering.delay, openaiHeaders());
}

function readRequest(call: Call): SpeechRequest {
  const body = jsonBody(call);
  modelFor(call, 'speech');
  refuseProblem(checkFields(body, FIELDS, ['input', 'voice'], '', call.fault.lenient));
  const request = body as unknown as SpeechRequest;
  if (request.input === '')
    refuse(400, {
      message: "Invalid 'input': string too short. Expected a string with minimum length 1.",
      param: 'input',
      code: 'string_below_min_length',
    });
  if (call.model!.startsWith('tts-1')) refuseForOldModel(request, call.model!);
  return request;
}

function refuseForOldModel({ voice, stream_format: form }: SpeechRequest, model: string): void {
  const name = typeof voice === 'string' ? voice : voice.id;
  if (!OLD_VOICES.includes(name)) refuseProblem(wrongValue('voice', name, OLD_VOICES));
  if (form !== 'sse') return;
  const message = `stream_format 'sse' is not supported with model '${model}'.`;
  refuse(400, { message, param: 'stream_format', code: 'unsupported_value' });
}

/** Pieces of a file of the given length, which begins as its format does. */
function soundOf(format: AudioFormat, length: number, count: number): Buffer[] {
  const head =
    format.type === 'audio/wav' ? wavHeader(Math.max(0, length - 44), SAMPLE_RATE) : Buffer.from(format.magic);
  return cutEvenly(length, count).map(({ start, size }) => {
    const sound = audioBytes(start, size);
    if (start >= head.length) return sound;
    const opening = Buffer.from(sound);
    head.copy(opening, 0, start);
    return opening;
  });
}

function eventsOf(pieces: readonly Buffer[], input: number, output: number, call: Call): Frame[] {
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  return [
    ...pieces.map((piece) => eventFrame(undefined, { type: 'speech.audio.delta', audio: piece.toString('base64') })),
    eventFrame(undefined, { type: 'speech.audio.done', ...(call.fault.nousage ? {} : { usage }) }),
  ];
}
