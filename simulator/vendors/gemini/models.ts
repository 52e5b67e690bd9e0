import type { Answer, Call } from '../../contract.ts';
import { geminiAnswer } from './answer.ts';
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
  /** Only for models that draw. */
  readonly image?: ImageFacts;
  /** Only for models that embed: the dimensions of a vector. */
  readonly dimensions?: number;
  /** Only for models that make videos, and nothing else. */
  readonly films?: boolean;
  /** Generation 3 names its calls, signs its thoughts and wants the signatures back. */
  readonly signs?: boolean;
  /** Largest `thinkingBudget`; models without it think by level. */
  readonly mostThoughts?: number;
}

export const MODELS: Record<string, ModelFacts> = {
  'gemini-3-pro-image': {
    displayName: 'Gemini 3 Pro Image',
    signs: true,
    image: {
      ratios: BASIC_RATIOS,
      sizes: ['1K', '2K', '4K'],
      mime: 'png',
      tokens: { '1K': 1120, '2K': 1120, '4K': 2000 },
    },
  },
  'gemini-3.1-flash-image': {
    displayName: 'Gemini 3.1 Flash Image',
    signs: true,
    image: {
      ratios: ALL_RATIOS,
      sizes: ['512', '1K', '2K', '4K'],
      mime: 'jpeg',
      tokens: { '512': 747, '1K': 1120, '2K': 1680, '4K': 2520 },
    },
  },
  'gemini-3.6-flash': { displayName: 'Gemini 3.6 Flash', signs: true },
  'gemini-2.5-flash': { displayName: 'Gemini 2.5 Flash', mostThoughts: 24_576 },
  'gemini-embedding-001': { displayName: 'Gemini Embedding 001', dimensions: 3072 },
  'veo-3.1-generate-preview': { displayName: 'Veo 3.1', films: true },
  'veo-3.1-fast-generate-preview': { displayName: 'Veo 3.1 fast', films: true },
};

const GENERATION = ['generateContent', 'countTokens'];
const EMBEDDING = ['embedContent', 'countTextTokens', 'countTokens'];

/** The model of a call, or the refusal: unknown, or without this method. */
export function modelFor(call: Call, method?: string): { name: string; facts: ModelFacts } {
  const name = call.model ?? '';
  const facts = Object.hasOwn(MODELS, name) ? MODELS[name]! : undefined;
  if (facts && (method === undefined || methodsOf(facts).includes(method))) return { name, facts };
  const message = `models/${name} is not found for API version v1beta, or is not supported for ${method ?? 'generateContent'}. Call ListModels to see the list of available models and their supported methods.`;
  return refuse(404, { message }, call);
}

function methodsOf({ dimensions, films }: ModelFacts): string[] {
  if (films) return ['predictLongRunning'];
  return dimensions === undefined ? GENERATION : EMBEDDING;
}

function describeModel(id: string): unknown {
  const facts = MODELS[id]!;
  const head = { name: `models/${id}`, version: '3.0', displayName: facts.displayName };
  const methods = { supportedGenerationMethods: methodsOf(facts) };
  if (facts.dimensions !== undefined) return { ...head, inputTokenLimit: 2048, outputTokenLimit: 1, ...methods };
  if (facts.films) return { ...head, inputTokenLimit: 480, outputTokenLimit: 8192, ...methods };
  const sampling = { temperature: 1, maxTemperature: 2, topP: 0.95, topK: 64 };
  return { ...head, inputTokenLimit: 65536, outputTokenLimit: 32768, ...methods, ...sampling, thinking: true };
}

/** `GET /models?pageSize=&pageToken=`; a page token is the index of the next model. */
export function answerModels(call: Call): Answer {
  const ids = Object.keys(MODELS);
  const size = Number(call.query.get('pageSize') ?? 50);
  const start = Number(call.query.get('pageToken') ?? 0);
  if (!Number.isInteger(size) || size < 1 || !Number.isInteger(start) || start < 0)
    return refuseField('page_size', 'Invalid page size or page token.', call);
  const more = start + size < ids.length ? { nextPageToken: String(start + size) } : {};
  return geminiAnswer(200, { models: ids.slice(start, start + size).map(describeModel), ...more });
}

export function answerModel(id: string, call: Call): Answer {
  modelFor({ ...call, model: id });
  return geminiAnswer(200, describeModel(id));
}
