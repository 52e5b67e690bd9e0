/** A client's request in neutral form: one prompt becomes the words of one user. */
import {
  booleanOrNull,
  type ChatRequest,
  isObject,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  packExtra,
  stopAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';
import { defaultMaximum, protocolName } from './fields.ts';

const neutralFields: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'suffix',
  'echo',
  'logprobs',
  'best_of',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'stop',
  'stream',
  'stream_options',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'user',
]);

/** Throws `unsupported_parameter` for what only a completions vendor could do. */
export function decodeRequest(body: JsonObject): ChatRequest {
  refuseInexpressible(body);
  const number = (name: string) => numberOrNull(body[name], name);
  return {
    model: stringAt(body.model, 'model'),
    stream: booleanOrNull(body.stream, 'stream') ?? false,
    messages: [{ role: 'user', parts: [{ type: 'text', text: onlyPrompt(body.prompt) }] }],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: number('max_tokens') ?? defaultMaximum,
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    choices: number('n'),
    stop: stopAt(body.stop, 'stop'),
    seed: number('seed'),
    presencePenalty: number('presence_penalty'),
    frequencyPenalty: number('frequency_penalty'),
    reasoningEffort: null,
    reasoningBudget: null,
    reasoningShown: null,
    verbosity: null,
    responseFormat: null,
    user: stringOrNull(body.user, 'user'),
    extra: extraOf(body),
  };
}

function onlyPrompt(prompt: JsonValue | undefined): string {
  const only = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof only === 'string') return only;
  throw unsupported(
    'prompt',
    'must be one string for this model: its vendor takes neither several prompts nor tokens.',
  );
}

function refuseInexpressible(body: JsonObject): void {
  const refuse = (name: string) => unsupported(name, 'is not supported by this model’s vendor.');
  if ((body.suffix ?? '') !== '') throw refuse('suffix');
  if (body.echo === true) throw refuse('echo');
  if ((body.logprobs ?? false) !== false) throw refuse('logprobs');
  // Equal numbers choose nothing: all that is made is answered.
  if ((numberOrNull(body.best_of, 'best_of') ?? 1) > (numberOrNull(body.n, 'n') ?? 1)) throw refuse('best_of');
  if (body.max_tokens === 0) throw refuse('max_tokens');
}

function extraOf(body: JsonObject): JsonObject {
  const kept = Object.entries(body).filter(([name, value]) => !neutralFields.has(name) && value !== null);
  const fields: JsonObject = Object.fromEntries(kept);
  const isBiased = isObject(fields.logit_bias) && Object.keys(fields.logit_bias).length > 0;
  return packExtra(protocolName, fields, isBiased ? ['logit_bias'] : []);
}
