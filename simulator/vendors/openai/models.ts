import { jsonAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { openaiHeaders, refuse } from './errors.ts';

export type ModelKind =
  | 'chat'
  | 'completion'
  | 'image'
  | 'embedding'
  | 'moderation'
  | 'transcription'
  | 'speech'
  | 'realtime'
  | 'video';

export interface ModelFacts {
  readonly kind: ModelKind;
  /** The dated name that chat answers report. */
  readonly dated: string;
  readonly created: number;
  /** Reasoning models refuse `max_tokens`, `stop` and a temperature of their own. */
  readonly reasoning?: boolean;
}

const MODELS: Record<string, ModelFacts> = {
  'gpt-4.1-mini': { kind: 'chat', dated: 'gpt-4.1-mini-2025-04-14', created: 1744318173 },
  'gpt-5.5': { kind: 'chat', dated: 'gpt-5.5-2026-04-23', created: 1776900000, reasoning: true },
  'gpt-3.5-turbo-instruct': { kind: 'completion', dated: 'gpt-3.5-turbo-instruct:20230824-v2', created: 1692901427 },
  'gpt-image-2': { kind: 'image', dated: 'gpt-image-2', created: 1776700000 },
  'gpt-image-1.5': { kind: 'image', dated: 'gpt-image-1.5', created: 1765900000 },
  'gpt-image-1-mini': { kind: 'image', dated: 'gpt-image-1-mini', created: 1758800000 },
  'gpt-image-2.6-flare': { kind: 'image', dated: 'gpt-image-2.6-flare', created: 1788800000 },
  'text-embedding-3-small': { kind: 'embedding', dated: 'text-embedding-3-small', created: 1705948997 },
  'text-embedding-3-large': { kind: 'embedding', dated: 'text-embedding-3-large', created: 1705953180 },
  'text-embedding-ada-002': { kind: 'embedding', dated: 'text-embedding-ada-002-v2', created: 1671217299 },
  'omni-moderation-latest': { kind: 'moderation', dated: 'omni-moderation-latest', created: 1731689265 },
  'whisper-1': { kind: 'transcription', dated: 'whisper-1', created: 1677532384 },
  'gpt-4o-transcribe': { kind: 'transcription', dated: 'gpt-4o-transcribe', created: 1742068463 },
  'gpt-4o-mini-transcribe': { kind: 'transcription', dated: 'gpt-4o-mini-transcribe', created: 1742068596 },
  'gpt-4o-transcribe-diarize': { kind: 'transcription', dated: 'gpt-4o-transcribe-diarize', created: 1750798887 },
  'tts-1': { kind: 'speech', dated: 'tts-1', created: 1681940951 },
  'tts-1-hd': { kind: 'speech', dated: 'tts-1-hd', created: 1699046015 },
  'gpt-4o-mini-tts': { kind: 'speech', dated: 'gpt-4o-mini-tts', created: 1742403959 },
  'gpt-realtime': { kind: 'realtime', dated: 'gpt-realtime-2025-08-28', created: 1756271773 },
  'sora-2': { kind: 'video', dated: 'sora-2', created: 1759708615 },
  'sora-2-pro': { kind: 'video', dated: 'sora-2-pro', created: 1759708663 },
  'gpt-realtime-mini': { kind: 'realtime', dated: 'gpt-realtime-mini-2025-10-06', created: 1759517175 },
};

const WRONG_ENDPOINT: Record<ModelKind, string> = {
  chat: 'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
  completion:
    'This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?',
  image: 'This model does not generate images.',
  embedding: 'You are not allowed to generate embeddings from this model.',
  moderation: 'This model is not supported in the v1/moderations endpoint.',
  transcription: 'This model is not supported in the v1/audio/transcriptions and v1/audio/translations endpoints.',
  speech: 'This model is not supported in the v1/audio/speech endpoint.',
  realtime: 'This model is not supported in realtime mode.',
  video: 'This model does not generate videos.',
};

/** The model of a call, or the refusal: unknown, or meant for another endpoint. */
export function modelFor(call: Call, kind: ModelKind): ModelFacts {
  const name = call.model;
  if (name === undefined)
    return refuse(400, {
      message: 'you must provide a model parameter',
      param: 'model',
      code: 'missing_required_parameter',
    });
  const facts = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (!facts)
    return refuse(404, {
      message: `The model \`${name}\` does not exist or you do not have access to it.`,
      code: 'model_not_found',
    });
  if (facts.kind === kind) return facts;
  if (kind !== 'image' && kind !== 'video') return refuse(404, { message: WRONG_ENDPOINT[kind], param: 'model' });
  const fitting = Object.keys(MODELS).filter((id) => MODELS[id]!.kind === kind);
  return refuse(400, {
    message: `Invalid value: '${name}'. Value must be one of '${fitting.join("', '")}'.`,
    param: 'model',
    code: 'invalid_value',
  });
}

const describeModel = (id: string): unknown => {
  return { id, object: 'model', created: MODELS[id]!.created, owned_by: 'system' };
};

export function answerModels(): Answer {
  return jsonAnswer(200, { object: 'list', data: Object.keys(MODELS).map(describeModel) }, openaiHeaders());
}

export function answerModel(id: string): Answer {
  if (Object.hasOwn(MODELS, id)) return jsonAnswer(200, describeModel(id), openaiHeaders());
  return refuse(404, { message: `The model '${id}' does not exist`, param: 'model', code: 'model_not_found' });
}
