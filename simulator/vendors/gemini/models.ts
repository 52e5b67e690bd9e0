import { jsonAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { refuse, refuseField } from './errors.ts';
import { ALL_RATIOS, BASIC_RATIOS } from './image-sizes.ts';

export interface ImageFacts {
  readonly ratios: readonly string[];
  readonly sizes: readonly string[];
  readonly mime: 'png' | 'jpeg';
  /** Output tokens by image size. */
  readonly tokens: Readonly<Record<string, number>>;
}

export interface ModelFacts {
  readonly displayName: string;
  /** Absent for text models. */
  readonly image?: ImageFacts;
}

export const MODELS: Record<string, ModelFacts> = {
  'gemini-3-pro-image': {
    displayName: 'Gemini 3 Pro Image',
    image: {
      ratios: BASIC_RATIOS,
      sizes: ['1K', '2K', '4K'],
      mime: 'png',
      tokens: { '1K': 1120, '2K': 1120, '4K': 2000 },
    },
  },
  'gemini-3.1-flash-image': {
    displayName: 'Gemini 3.1 Flash Image',
    image: {
      ratios: ALL_RATIOS,
      sizes: ['512', '1K', '2K', '4K'],
      mime: 'jpeg',
      tokens: { '512': 747, '1K': 1120, '2K': 1680, '4K': 2520 },
    },
  },
  'gemini-3.6-flash': { displayName: 'Gemini 3.6 Flash' },
};

export function modelFor(call: Call): { name: string; facts: ModelFacts } {
  const name = call.model ?? '';
  if (Object.hasOwn(MODELS, name)) return { name, facts: MODELS[name]! };
  const message = `models/${name} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
  return refuse(404, { message }, call);
}

function describeModel(id: string): unknown {
  return {
    name: `models/${id}`,
    version: '3.0',
    displayName: MODELS[id]!.displayName,
    inputTokenLimit: 65536,
    outputTokenLimit: 32768,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    temperature: 1,
    topP: 0.95,
    topK: 64,
  };
}

/** `GET /models?pageSize=&pageToken=`; a page token is the index of the next model. */
export function answerModels(call: Call): Answer {
  const ids = Object.keys(MODELS);
  const size = Number(call.query.get('pageSize') ?? 50);
  const start = Number(call.query.get('pageToken') ?? 0);
  if (!Number.isInteger(size) || size < 1 || !Number.isInteger(start) || start < 0)
    return refuseField('page_size', 'Invalid page size or page token.', call);
  const more = start + size < ids.length ? { nextPageToken: String(start + size) } : {};
  return jsonAnswer(200, { models: ids.slice(start, start + size).map(describeModel), ...more });
}

export function answerModel(id: string, call: Call): Answer {
  modelFor({ ...call, model: id });
  return jsonAnswer(200, describeModel(id));
}
