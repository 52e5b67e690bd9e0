import {
  type Check,
  checkAnything,
  checkByType,
  checkChoice,
  checkDecimal,
  checkFlag,
  checkInteger,
  checkList,
  checkObject,
  checkOpenObject,
  checkText,
  isRecord,
} from '../checks.ts';

const VOICES = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse', 'marin', 'cedar'];
const SESSION_SECONDS = 3600;
const BYTES_PER_SECOND: Record<string, number> = { 'audio/pcm': 48_000, 'audio/pcmu': 8000, 'audio/pcma': 8000 };

const FORMAT = checkObject(
  { type: checkChoice(...Object.keys(BYTES_PER_SECOND)), rate: checkInteger(24_000, 24_000) },
  ['type'],
);
const OUTPUT = checkObject({
  format: FORMAT,
  voice: checkByType({ string: checkChoice(...VOICES), object: checkObject({ id: checkText() }, ['id']) }),
  speed: checkDecimal(0.25, 1.5),
});
const INPUT = checkObject({
  format: FORMAT,
  transcription: checkObject({ model: checkText(), language: checkText(), prompt: checkText() }),
  noise_reduction: checkOpenObject,
  turn_detection: checkOpenObject,
});

/** What a response may have of its own, and a session for all of them. */
const RESPONSE_FIELDS: Record<string, Check> = {
  output_modalities: checkList(checkChoice('text', 'audio'), 1, 1),
  instructions: checkText(),
  tools: checkList(checkOpenObject, 0, 128),
  tool_choice: checkByType({ string: checkChoice('none', 'auto', 'required'), object: checkOpenObject }),
  max_output_tokens: checkByType({ number: checkInteger(1, 4096), string: checkChoice('inf') }),
  prompt: checkOpenObject,
};

export const CHECK_SESSION = checkObject(
  {
    ...RESPONSE_FIELDS,
    type: checkChoice('realtime'),
    model: checkText(),
    audio: checkObject({ input: INPUT, output: OUTPUT }),
    include: checkList(checkText(), 0, 8),
    tracing: checkAnything,
    truncation: checkAnything,
  },
  ['type'],
);
export const CHECK_RESPONSE = checkObject({
  ...RESPONSE_FIELDS,
  audio: checkObject({ output: OUTPUT }),
  conversation: checkChoice('auto', 'none'),
  input: checkList(checkOpenObject, 0, 1000),
  metadata: checkOpenObject,
  parallel_tool_calls: checkFlag,
});

interface Format {
  readonly type: string;
}

/** The session as its events show it. */
export interface Settings {
  readonly output_modalities: readonly ('text' | 'audio')[];
  readonly instructions: string;
  readonly tools: readonly { readonly name?: string; readonly parameters?: unknown }[];
  readonly tool_choice: unknown;
  readonly max_output_tokens: number | 'inf';
  readonly audio: {
    readonly input: { readonly format: Format; readonly transcription: { readonly model?: string } | null };
    readonly output: { readonly format: Format };
  };
}

export function standardSettings(id: string, model: string): Settings {
  const format = { type: 'audio/pcm', rate: 24_000 };
  const detection = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 200 };
  const turn_detection = { ...detection, idle_timeout_ms: null, create_response: true, interrupt_response: true };
  const settings = {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model,
    output_modalities: ['audio' as const],
    instructions: '',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf' as const,
    tracing: null,
    truncation: 'auto',
    prompt: null,
    include: null,
    expires_at: Math.floor(Date.now() / 1000) + SESSION_SECONDS,
    audio: {
      input: { format, transcription: null, noise_reduction: null, turn_detection },
      output: { format, voice: 'alloy', speed: 1 },
    },
  };
  return settings;
}

const NULLABLE = ['transcription', 'noise_reduction', 'turn_detection'];

/** What an update names replaces what was, the parts of `audio` one by one; null changes nothing but what it switches off. */
export function mergeSettings<Value extends object>(settings: Value, update: Record<string, unknown>): Value {
  const { audio, ...rest } = update;
  const merged = { ...settings, ...named(rest) };
  if (!isRecord(audio)) return merged;
  const before = (settings as { audio?: Record<string, object> }).audio ?? {};
  const parts = Object.entries(audio).map(([name, part]) => [name, { ...before[name], ...named(part ?? {}) }] as const);
  return { ...merged, audio: { ...before, ...Object.fromEntries(parts) } };
}

function named(update: object): object {
  return Object.fromEntries(
    Object.entries(update).filter(([name, value]) => value !== null || NULLABLE.includes(name)),
  );
}

export const bytesPerSecond = ({ type }: Format): number => BYTES_PER_SECOND[type]!;
