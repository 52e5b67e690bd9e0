import {
  type Check,
  checkAnything,
  checkByType,
  checkChoice,
  checkDecimal,
  checkFields,
  checkFlag,
  checkInteger,
  checkList,
  checkObject,
  checkOpenObject,
  checkText,
  isRecord,
  type Problem,
  wrongValue,
} from '../../checks.ts';
import type { Call } from '../../contract.ts';
import { checkBias, checkMetadata } from './entries.ts';
import { jsonBody, refuse, refuseProblem } from './errors.ts';
import { checkMessages } from './messages.ts';
import { type ModelFacts, modelFor } from './models.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const checkName: Check = (value, path) => {
  const problem = checkText(64)(value, path);
  if (problem || NAME.test(value as string)) return problem;
  const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return { param: path, code: 'invalid_value', message };
};

const FUNCTION = checkObject(
  { name: checkName, description: checkText(), parameters: checkOpenObject, strict: checkFlag },
  ['name'],
);
const CUSTOM = checkObject({ name: checkName, description: checkText(), format: checkOpenObject }, ['name']);
const TOOL_KINDS: Record<string, Check> = {
  function: checkObject({ type: checkAnything, function: FUNCTION }, ['function']),
  custom: checkObject({ type: checkAnything, custom: CUSTOM }, ['custom']),
};

function byType(kinds: Record<string, Check>): Check {
  return (value, path) => {
    if (!isRecord(value)) return checkOpenObject(value, path);
    const type = String(value.type);
    return Object.hasOwn(kinds, type)
      ? kinds[type]!(value, path)
      : wrongValue(`${path}.type`, type, Object.keys(kinds));
  };
}

const NAMED_CHOICE = checkObject({ name: checkName }, ['name']);
const TOOL_CHOICE = checkByType({
  string: checkChoice('none', 'auto', 'required'),
  object: byType({
    function: checkObject({ type: checkAnything, function: NAMED_CHOICE }, ['function']),
    custom: checkObject({ type: checkAnything, custom: NAMED_CHOICE }, ['custom']),
    allowed_tools: checkObject({ type: checkAnything, allowed_tools: checkOpenObject }, ['allowed_tools']),
  }),
});
const JSON_SCHEMA = checkObject(
  { name: checkName, description: checkText(), schema: checkOpenObject, strict: checkFlag },
  ['name'],
);
const RESPONSE_FORMAT = byType({
  text: checkObject({ type: checkAnything }),
  json_object: checkObject({ type: checkAnything }),
  json_schema: checkObject({ type: checkAnything, json_schema: JSON_SCHEMA }, ['json_schema']),
});
export const STREAM_OPTIONS = checkObject({ include_usage: checkFlag, include_obfuscation: checkFlag });
export const STOP = checkByType({ string: checkText(), array: checkList(checkText(), 1, 4) });

const FIELDS: Record<string, Check> = {
  model: checkText(),
  messages: checkMessages,
  max_completion_tokens: checkInteger(1, MOST),
  max_tokens: checkInteger(1, MOST),
  temperature: checkDecimal(0, 2),
  top_p: checkDecimal(0, 1),
  n: checkInteger(1, 128),
  stop: STOP,
  frequency_penalty: checkDecimal(-2, 2),
  presence_penalty: checkDecimal(-2, 2),
  logit_bias: checkBias,
  logprobs: checkFlag,
  top_logprobs: checkInteger(0, 20),
  seed: checkInteger(-MOST, MOST),
  user: checkText(),
  safety_identifier: checkText(64),
  prompt_cache_key: checkText(),
  prompt_cache_retention: checkChoice('in_memory', 'in-memory', '24h'),
  prompt_cache_options: checkOpenObject,
  store: checkFlag,
  metadata: checkMetadata,
  service_tier: checkChoice('auto', 'default', 'flex', 'scale', 'priority', 'fast'),
  reasoning_effort: checkChoice('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  verbosity: checkChoice('low', 'medium', 'high'),
  response_format: RESPONSE_FORMAT,
  modalities: checkList(checkChoice('text', 'audio'), 1, 2),
  audio: checkOpenObject,
  prediction: checkOpenObject,
  web_search_options: checkOpenObject,
  moderation: checkOpenObject,
  tools: checkList(byType(TOOL_KINDS), 1, 128),
  tool_choice: TOOL_CHOICE,
  parallel_tool_calls: checkFlag,
  functions: checkList(FUNCTION, 1, 128),
  function_call: checkByType({ string: checkChoice('none', 'auto'), object: NAMED_CHOICE }),
  stream: checkFlag,
  stream_options: STREAM_OPTIONS,
};

export interface Tool {
  readonly type: 'function' | 'custom';
  readonly function?: { name: string; parameters?: unknown };
  readonly custom?: { name: string };
}

/** A checked chat request; null has become absent. */
export interface ChatRequest {
  readonly messages: readonly { role: string; content?: unknown }[];
  readonly n?: number;
  readonly max_completion_tokens?: number;
  readonly max_tokens?: number;
  readonly stop?: string | string[];
  readonly logprobs?: boolean;
  readonly response_format?: { type: string; json_schema?: { schema?: unknown } };
  readonly tools?: readonly Tool[];
  /** With `function_call`, what `tools` and `tool_choice` replaced. */
  readonly functions?: readonly { name: string; parameters?: unknown }[];
  readonly function_call?: string | { name: string };
  readonly tool_choice?: string | { type: string; function?: { name: string }; custom?: { name: string } };
  readonly service_tier?: string;
  readonly stream?: boolean;
  readonly stream_options?: { include_usage?: boolean; include_obfuscation?: boolean };
}

/** Checks a chat request as OpenAI does, or refuses it. */
export function readChatRequest(call: Call): { request: ChatRequest; model: ModelFacts } {
  const body = jsonBody(call);
  const model = modelFor(call, 'chat');
  refuseProblem(checkFields(body, FIELDS, ['messages'], '', call.fault.lenient));
  const request = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  refuseProblem(checkCombination(request));
  if (model.reasoning) refuseForReasoning(request);
  return { request: request as unknown as ChatRequest, model };
}

function checkCombination(request: Record<string, unknown>): Problem | undefined {
  if (request.stream_options !== undefined && request.stream !== true)
    return onlyWhen('stream_options', "'stream' is enabled");
  if (request.tool_choice !== undefined && request.tools === undefined)
    return onlyWhen('tool_choice', "'tools' are specified");
  if (request.function_call !== undefined && request.functions === undefined)
    return onlyWhen('function_call', "'functions' are specified");
  if (request.parallel_tool_calls !== undefined && request.tools === undefined)
    return onlyWhen('parallel_tool_calls', "'tools' are specified");
  if (request.top_logprobs !== undefined && request.logprobs !== true)
    return onlyWhen('top_logprobs', "'logprobs' is enabled");
  if (request.max_tokens !== undefined && request.max_completion_tokens !== undefined) {
    const message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
    return { param: 'max_tokens', code: 'invalid_parameter_combination', message };
  }
  if ((request.modalities as string[] | undefined)?.includes('audio'))
    return { param: 'modalities', code: 'unsupported_value', message: 'This model does not support audio output.' };
  return undefined;
}

export function onlyWhen(param: string, condition: string): Problem {
  return { param, code: null, message: `The '${param}' parameter is only allowed when ${condition}.` };
}

function refuseForReasoning(request: Record<string, unknown>): void {
  if (request.max_tokens !== undefined) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    refuse(400, { message, param: 'max_tokens', code: 'unsupported_parameter' });
  }
  if (request.stop !== undefined) {
    const message = "Unsupported parameter: 'stop' is not supported with this model.";
    refuse(400, { message, param: 'stop', code: 'unsupported_parameter' });
  }
  for (const name of ['temperature', 'top_p']) {
    if (request[name] === undefined || request[name] === 1) continue;
    const message = `Unsupported value: '${name}' does not support ${request[name]} with this model. Only the default (1) value is supported.`;
    refuse(400, { message, param: name, code: 'unsupported_value' });
  }
}
