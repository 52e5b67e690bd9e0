import type { Call } from '../../contract.ts';
import { refuse, refuseField } from './errors.ts';
import type { ModelFacts } from './models.ts';
import { schemaProblem } from './schema.ts';

export interface GenerationConfig {
  readonly stopSequences?: readonly string[];
  readonly responseMimeType?: string;
  readonly responseSchema?: unknown;
  readonly responseJsonSchema?: unknown;
  readonly responseModalities?: readonly string[];
  readonly candidateCount?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly responseLogprobs?: boolean;
  readonly logprobs?: number;
  readonly thinkingConfig?: { includeThoughts?: boolean; thinkingBudget?: number; thinkingLevel?: string };
  readonly imageConfig?: { aspectRatio?: string; imageSize?: string };
}

const MOST_STOPS = 5;
const INT32 = 2 ** 31;
const PLACE = 'generation_config';
const RESPONSE_TYPES = ['text/plain', 'application/json', 'application/xml', 'application/yaml', 'text/x.enum'];

/** The ranges of numbers, by their names in errors. */
function rangesOf(config: GenerationConfig): [string, number | undefined, number, number][] {
  return [
    ['temperature', config.temperature, 0, 2],
    ['top_p', config.topP, 0, 1],
    ['top_k', config.topK, 1, INT32],
    ['max_output_tokens', config.maxOutputTokens, 1, 65_536],
    ['candidate_count', config.candidateCount, 1, 8],
    ['seed', config.seed, -INT32, INT32 - 1],
    ['presence_penalty', config.presencePenalty, -2, 2],
    ['frequency_penalty', config.frequencyPenalty, -2, 2],
    ['logprobs', config.logprobs, 0, 20],
  ];
}

/** Refuses numbers out of their range and settings that exclude each other. */
export function checkGenerationConfig(config: GenerationConfig, facts: ModelFacts, call: Call): void {
  for (const [name, value, least, most] of rangesOf(config))
    if (value !== undefined && (value < least || value > most))
      refuseField(
        `${PLACE}.${name}`,
        `* GenerateContentRequest.${PLACE}.${name}: ${name} must be in the range [${least}, ${most}].`,
        call,
      );
  const { stopSequences = [] } = config;
  if (stopSequences.length > MOST_STOPS)
    refuseField(`${PLACE}.stop_sequences`, `The number of stop sequences must be at most ${MOST_STOPS}.`, call);
  if (stopSequences.includes('')) refuseField(`${PLACE}.stop_sequences`, 'Stop sequences must not be empty.', call);
  if (config.logprobs !== undefined && !config.responseLogprobs)
    refuseField(`${PLACE}.logprobs`, 'logprobs may only be set when response_logprobs is true.', call);
  checkResponse(config, call);
  checkThinking(config, facts, call);
}

function checkResponse(config: GenerationConfig, call: Call): void {
  const { responseMimeType: type, responseSchema, responseJsonSchema } = config;
  const at = `GenerateContentRequest.${PLACE}`;
  if (type !== undefined && !RESPONSE_TYPES.includes(type))
    refuseField(
      `${PLACE}.response_mime_type`,
      `* ${at}.response_mime_type: allowed mimetypes are \`text/plain\`, \`application/json\`, \`application/xml\`, \`application/yaml\` and \`text/x.enum\`.`,
      call,
    );
  if (responseSchema !== undefined && responseJsonSchema !== undefined)
    refuse(400, { message: 'Only one of response_schema and response_json_schema can be set.' }, call);
  const hasSchema = responseSchema !== undefined || responseJsonSchema !== undefined;
  if (hasSchema && type !== 'application/json' && type !== 'text/x.enum')
    refuse(400, { message: 'A response schema may only be set when response_mime_type is application/json.' }, call);
  const problem = schemaProblem(responseSchema, `${at}.response_schema`);
  if (problem !== undefined) refuseField(`${PLACE}.response_schema`, `* ${problem}`, call);
}

function checkThinking({ thinkingConfig = {} }: GenerationConfig, facts: ModelFacts, call: Call): void {
  const { thinkingBudget: budget, thinkingLevel: level } = thinkingConfig;
  if (level !== undefined && budget !== undefined)
    refuse(400, { message: 'You can only set only one of thinking budget and thinking level.' }, call);
  if (level !== undefined && facts.mostThoughts !== undefined)
    refuse(400, { message: 'Thinking level is not supported for this model.' }, call);
  const most = facts.mostThoughts ?? 32_768;
  if (budget !== undefined && (budget < -1 || budget > most))
    refuse(
      400,
      { message: `The thinking budget ${budget} is invalid. Please choose a value between 0 and ${most}.` },
      call,
    );
}
