import {
  type Check,
  checkByType,
  checkChoice,
  checkDecimal,
  checkFields,
  checkFlag,
  checkInteger,
  checkList,
  checkObject,
  checkText,
  type Problem,
} from '../../checks.ts';
import type { Call } from '../../contract.ts';
import { type AudioFile, audioFile, audioForm, type FormKinds, formFields } from './audio-form.ts';
import { refuse, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const WHISPER = 'whisper-1';
export const DIARIZE = 'gpt-4o-transcribe-diarize';
const LONGEST_UNCHUNKED = 30;

const FORMATS: Record<string, readonly string[]> = {
  [WHISPER]: ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  [DIARIZE]: ['json', 'text', 'diarized_json'],
};
const STANDARD_FORMATS = ['json', 'text'];

const KINDS: FormKinds = {
  lists: ['timestamp_granularities', 'include', 'known_speaker_names', 'known_speaker_references'],
  numbers: ['temperature'],
  flags: ['stream'],
  objects: ['chunking_strategy'],
};

const checkLanguage: Check = (value, path) => {
  const problem = checkText()(value, path);
  if (problem || /^[a-z]{2,3}$/.test(value as string)) return problem;
  const message = `Invalid language '${value}'. Language parameter must be specified in ISO-639-1 format.`;
  return { param: path, code: 'invalid_language_format', message };
};
const checkDataUrl: Check = (value, path) => {
  const problem = checkText()(value, path);
  if (problem || (value as string).startsWith('data:')) return problem;
  return { param: path, code: 'invalid_value', message: `Invalid '${path}': expected a data URL.` };
};
const VAD = checkObject(
  {
    type: checkChoice('server_vad'),
    prefix_padding_ms: checkInteger(0, 60_000),
    silence_duration_ms: checkInteger(0, 60_000),
    threshold: checkDecimal(0, 1),
  },
  ['type'],
);

const COMMON_FIELDS: Record<string, Check> = {
  model: checkText(),
  prompt: checkText(),
  response_format: checkChoice('json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'),
  temperature: checkDecimal(0, 1),
};
const TRANSCRIPTION_FIELDS: Record<string, Check> = {
  ...COMMON_FIELDS,
  language: checkLanguage,
  timestamp_granularities: checkList(checkChoice('word', 'segment'), 1, 2),
  include: checkList(checkChoice('logprobs'), 1, 1),
  stream: checkFlag,
  chunking_strategy: checkByType({ string: checkChoice('auto'), object: VAD }),
  known_speaker_names: checkList(checkText(), 1, 4),
  known_speaker_references: checkList(checkDataUrl, 1, 4),
};

/** A checked transcription or translation. */
export interface TranscriptionRequest {
  readonly model: string;
  readonly file: AudioFile;
  readonly prompt?: string;
  readonly language?: string;
  readonly response_format?: string;
  readonly timestamp_granularities?: readonly string[];
  readonly include?: readonly string[];
  readonly stream?: boolean;
  readonly known_speaker_names?: readonly string[];
}

export function readTranscription(call: Call): TranscriptionRequest {
  return readRequest(call, TRANSCRIPTION_FIELDS, FORMATS[call.model ?? ''] ?? STANDARD_FORMATS);
}

/** Translations know one model. */
export function readTranslation(call: Call): TranscriptionRequest {
  if (call.model === WHISPER) return readRequest(call, COMMON_FIELDS, FORMATS[WHISPER]!);
  modelFor(call, 'transcription');
  const message = `Invalid model ${call.model}. The model must be '${WHISPER}' for translations.`;
  return refuse(400, { param: 'model', code: 'invalid_value', message });
}

function readRequest(call: Call, known: Record<string, Check>, formats: readonly string[]): TranscriptionRequest {
  const form = audioForm(call);
  modelFor(call, 'transcription');
  const model = call.model!;
  const fields = formFields(form, KINDS);
  refuseProblem(checkFields(fields, known, [], '', call.fault.lenient));
  const file = audioFile(form);
  refuseProblem(checkFormat(fields, model, formats) ?? checkCombination(fields, model, file));
  return { ...(fields as object), model, file };
}

function checkFormat(fields: Record<string, unknown>, model: string, formats: readonly string[]): Problem | undefined {
  const { response_format: format = 'json' } = fields as { response_format?: string };
  if (formats.includes(format)) return undefined;
  const message = `response_format '${format}' is not compatible with model '${model}'. Use '${formats.join("' or '")}' instead.`;
  return { param: 'response_format', code: 'unsupported_value', message };
}

function checkCombination(fields: Record<string, unknown>, model: string, file: AudioFile): Problem | undefined {
  const { response_format: format = 'json' } = fields;
  const unsupported = (param: string, message: string): Problem => ({ param, code: 'unsupported_value', message });
  if (fields.timestamp_granularities !== undefined && format !== 'verbose_json')
    return unsupported('timestamp_granularities', "Timestamp granularities need the response format 'verbose_json'.");
  if (fields.include !== undefined && (format !== 'json' || model === WHISPER || model === DIARIZE))
    return unsupported('include', "Logprobs need the response format 'json' and a model that reports them.");
  if (model !== DIARIZE) {
    const speakers = ['known_speaker_names', 'known_speaker_references'].find((name) => fields[name] !== undefined);
    return speakers === undefined
      ? undefined
      : unsupported(speakers, `'${speakers}' is supported by diarization models only.`);
  }
  if (fields.prompt !== undefined) return unsupported('prompt', 'Prompt is not supported for diarization models.');
  if (file.seconds > LONGEST_UNCHUNKED && fields.chunking_strategy === undefined)
    return unsupported('chunking_strategy', 'chunking_strategy is required for diarization models.');
  return undefined;
}
