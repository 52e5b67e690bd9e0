/** `generationConfig` in neutral form. */
import {
  booleanOrNull,
  type ChatRequest,
  GatewayError,
  type JsonObject,
  numberOrNull,
  stopAt,
  stringOrNull,
} from '../../../engine/plugin.ts';
import { decodeSchema } from './decode-schema.ts';
import { optionalMessage } from './fields.ts';

const place = 'generationConfig';

type Config = Pick<
  ChatRequest,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'choices'
  | 'stop'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'reasoningEffort'
  | 'reasoningBudget'
  | 'reasoningShown'
  | 'responseFormat'
>;

/** `config` has its lowerCamelCase names. */
export function decodeConfig(config: JsonObject): Config {
  const number = (name: string) => numberOrNull(config[name], `${place}.${name}`);
  return {
    maxOutputTokens: number('maxOutputTokens'),
    temperature: number('temperature'),
    topP: number('topP'),
    topK: number('topK'),
    choices: number('candidateCount'),
    stop: stopAt(config.stopSequences, `${place}.stopSequences`),
    seed: number('seed'),
    presencePenalty: number('presencePenalty'),
    frequencyPenalty: number('frequencyPenalty'),
    ...decodeThinking(config),
    responseFormat: decodeFormat(config),
  };
}

/** A budget of 0 turns thinking off, -1 leaves it to the model. */
function decodeThinking(config: JsonObject) {
  const here = `${place}.thinkingConfig`;
  const thinking = optionalMessage(config.thinkingConfig, here);
  const level = stringOrNull(thinking.thinkingLevel, `${here}.thinkingLevel`);
  const budget = numberOrNull(thinking.thinkingBudget, `${here}.thinkingBudget`);
  return {
    reasoningEffort: effortOf(level, `${here}.thinkingLevel`) ?? (budget === 0 ? 'none' : null),
    reasoningBudget: budget !== null && budget > 0 ? budget : null,
    reasoningShown: booleanOrNull(thinking.includeThoughts, `${here}.includeThoughts`),
  };
}

const levels = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];

function effortOf(level: string | null, param: string): string | null {
  if (level === null || level === 'THINKING_LEVEL_UNSPECIFIED') return null;
  if (levels.includes(level)) return level.toLowerCase();
  throw new GatewayError('invalid_value', `\`${param}\` must be one of ${levels.join(', ')}.`, { param });
}

/** Other media types than these two have no neutral form: `fields` of the request keep them. */
function decodeFormat({ responseMimeType, responseSchema, responseJsonSchema }: JsonObject) {
  if (responseMimeType !== 'application/json') return responseMimeType === 'text/plain' ? textFormat : null;
  const schema = responseJsonSchema ?? (responseSchema && decodeSchema(responseSchema, `${place}.responseSchema`));
  if (schema === undefined) return { type: 'json' } as const;
  return { type: 'schema', name: 'response', schema, strict: null } as const;
}

const textFormat = { type: 'text' } as const;
