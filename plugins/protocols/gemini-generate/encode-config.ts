/** What of a neutral request stands in `generationConfig`. */
import { type ChatRequest, type JsonObject, type JsonValue, present } from '../../../engine/plugin.ts';
import { isPro, isSigning } from './generation.ts';

const mostStops = 5;

export const takesStop = (sequence: string, index: number): boolean => sequence !== '' && index < mostStops;

/** Every thinking model of the second generation takes this much. */
const largestBudget = 24_576;

export function encodeConfig(request: ChatRequest, vendorModel: string): JsonObject {
  return present({
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    candidateCount: request.choices === 1 ? null : request.choices,
    maxOutputTokens: request.maxOutputTokens,
    stopSequences: request.stop.filter(takesStop),
    seed: request.seed === null ? null : seedOf(request.seed),
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    thinkingConfig: encodeThinking(request, vendorModel),
    ...encodeFormat(request.responseFormat),
  });
}

/** Gemini's seeds have 32 bits. */
const seedOf = (seed: number): number => (Number.isSafeInteger(seed) ? seed | 0 : seed);

function encodeFormat(format: ChatRequest['responseFormat']): Record<string, JsonValue> {
  if (format === null || format.type === 'text') return {};
  const responseMimeType = 'application/json';
  return format.type === 'schema' ? { responseMimeType, responseJsonSchema: format.schema } : { responseMimeType };
}

/** A level or a budget, never both. */
function encodeThinking(request: ChatRequest, vendorModel: string): JsonValue {
  const { reasoningEffort: effort, reasoningBudget: budget, reasoningShown: includeThoughts } = request;
  const amount =
    effort !== null && isSigning(vendorModel)
      ? { thinkingLevel: levelOf(effort, vendorModel) }
      : { thinkingBudget: budget === null ? budgetOf(effort, vendorModel) : Math.min(budget, largestBudget) };
  const config = present({ ...amount, includeThoughts });
  return Object.keys(config).length === 0 ? null : config;
}

const levels: Readonly<Record<string, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
};

/** Thinking cannot be turned off, and the pro models start at LOW. */
function levelOf(effort: string, vendorModel: string): string {
  const level = Object.hasOwn(levels, effort) ? levels[effort]! : 'HIGH';
  return level === 'MINIMAL' && isPro(vendorModel) ? 'LOW' : level;
}

const budgets: Readonly<Record<string, number>> = { none: 0, minimal: 1024, low: 1024, medium: 8192 };
/** The pro model of the second generation always thinks. */
const smallestProBudget = 128;

function budgetOf(effort: string | null, vendorModel: string): number | null {
  if (effort === null) return null;
  const budget = Object.hasOwn(budgets, effort) ? budgets[effort]! : largestBudget;
  return isPro(vendorModel) ? Math.max(budget, smallestProBudget) : budget;
}
