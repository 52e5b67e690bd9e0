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
} from '../../checks.ts';
import type { Call } from '../../contract.ts';
import { checkName, onlyWhen } from './chat-request.ts';
import { checkMetadata } from './entries.ts';
import { jsonBody, refuse, refuseProblem } from './errors.ts';
import { checkPart } from './messages.ts';
import { type ModelFacts, modelFor } from './models.ts';
import { checkInput, type Item, itemsOf } from './responses-items.ts';
import { checkSchema } from './responses-schema.ts';
import { checkChosenTool, checkToolChoice, checkTools, type Tool, type ToolChoice } from './responses-tools.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const LEAST_OUTPUT = 16;

const FORMAT = checkPart({
  text: checkObject({ type: checkAnything }),
  json_object: checkObject({ type: checkAnything }),
  json_schema: checkObject(
    { type: checkAnything, name: checkName, description: checkText(), schema: checkOpenObject, strict: checkFlag },
    ['name', 'schema'],
  ),
});

/** What `POST /v1/responses/input_tokens` takes of a request. */
export const COUNTED_FIELDS: Record<string, Check> = {
  model: checkText(),
  input: checkInput,
  instructions: checkText(),
  previous_response_id: checkText(),
  conversation: checkByType({ string: checkText(), object: checkObject({ id: checkText() }, ['id']) }),
  tools: checkTools,
  tool_choice: checkToolChoice,
  parallel_tool_calls: checkFlag,
  text: checkObject({ format: FORMAT, verbosity: checkChoice('low', 'medium', 'high') }),
  reasoning: checkObject({
    effort: checkChoice('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    summary: checkChoice('auto', 'concise', 'detailed'),
    generate_summary: checkChoice('auto', 'concise', 'detailed'),
    context: checkText(),
    mode: checkText(),
  }),
  truncation: checkChoice('auto', 'disabled'),
};

/** What `POST /v1/responses/compact` takes. */
export const COMPACT_FIELDS: Record<string, Check> = {
  model: checkText(),
  input: checkInput,
  instructions: checkText(),
  previous_response_id: checkText(),
  prompt_cache_key: checkText(64),
  prompt_cache_options: checkOpenObject,
  prompt_cache_retention: checkChoice('in_memory', 'in-memory', '24h'),
  service_tier: checkChoice('auto', 'default', 'fast', 'flex', 'priority'),
  image: checkOpenObject,
};

const CREATE_FIELDS: Record<string, Check> = {
  ...COUNTED_FIELDS,
  max_output_tokens: checkInteger(LEAST_OUTPUT, MOST),
  max_tool_calls: checkInteger(1, MOST),
  temperature: checkDecimal(0, 2),
  top_p: checkDecimal(0, 1),
  top_logprobs: checkInteger(0, 20),
  include: checkList(
    checkChoice(
      'reasoning.encrypted_content',
      'message.output_text.logprobs',
      'message.input_image.image_url',
      'web_search_call.action.sources',
      'web_search_call.results',
      'file_search_call.results',
      'code_interpreter_call.outputs',
      'computer_call_output.output.image_url',
    ),
    0,
    16,
  ),
  store: checkFlag,
  background: checkFlag,
  stream: checkFlag,
  stream_options: checkObject({ include_obfuscation: checkFlag }),
  context_management: checkList(
    checkPart({
      compaction: checkObject({ type: checkAnything, compact_threshold: checkInteger(1000, MOST) }),
    }),
    1,
    16,
  ),
  metadata: checkMetadata,
  user: checkText(),
  safety_identifier: checkText(64),
  prompt_cache_key: checkText(64),
  prompt_cache_options: checkOpenObject,
  prompt_cache_retention: checkChoice('in_memory', 'in-memory', '24h'),
  service_tier: checkChoice('auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'),
  moderation: checkOpenObject,
  prompt: checkObject({ id: checkText(), version: checkText(), variables: checkOpenObject }, ['id']),
  image: checkOpenObject,
  access_programs: checkAnything,
};

/** A checked request; null has become absent. */
export interface ResponsesRequest {
  readonly input: readonly Item[];
  readonly instructions?: string;
  readonly previous_response_id?: string;
  readonly max_output_tokens?: number;
  readonly tools?: readonly Tool[];
  readonly tool_choice?: ToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly text?: {
    readonly format?: { readonly type: string; readonly schema?: unknown; readonly strict?: boolean };
    readonly verbosity?: string;
  };
  readonly reasoning?: { readonly effort?: string; readonly summary?: string; readonly generate_summary?: string };
  readonly include?: readonly string[];
  readonly store?: boolean;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_obfuscation?: boolean };
  readonly service_tier?: string;
  /** What is only repeated in the answer. */
  readonly [name: string]: unknown;
}

/** Checks a body against the fields of its route, or refuses it as OpenAI does. */
export function readResponsesRequest(
  call: Call,
  fields: Record<string, Check> = CREATE_FIELDS,
): { request: ResponsesRequest; model: ModelFacts } {
  const body = jsonBody(call);
  const model = modelFor(call, 'chat');
  refuseProblem(checkFields(body, fields, [], '', call.fault.lenient));
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const request = { ...present, input: itemsOf(present.input) } as ResponsesRequest;
  refuseProblem(checkCombination(request) ?? checkFormat(request) ?? checkModel(request, model));
  refuseForeign(request);
  return { request, model };
}

function checkCombination(request: ResponsesRequest): Problem | undefined {
  if (request.input.length === 0 && request.previous_response_id === undefined)
    return {
      param: 'input',
      code: 'missing_required_parameter',
      message: "One of 'input', 'previous_response_id', 'prompt' or 'conversation' must be provided.",
    };
  if (request.previous_response_id !== undefined && request.conversation !== undefined)
    return {
      param: 'previous_response_id',
      code: 'mutually_exclusive_parameters',
      message: "Mutually exclusive parameters: only one of 'previous_response_id' and 'conversation' may be provided.",
    };
  if (request.stream_options !== undefined && request.stream !== true)
    return onlyWhen('stream_options', "'stream' is enabled");
  if (request.background === true)
    return { param: 'background', code: 'unsupported_parameter', message: 'Background mode is not supported here.' };
  return checkChosenTool(request.tool_choice, request.tools ?? []);
}

function checkFormat({ text, input }: ResponsesRequest): Problem | undefined {
  const format = text?.format;
  if (format?.type === 'json_schema') {
    const name = (format as { name?: string }).name;
    const place = { param: 'text.format.schema', code: 'invalid_json_schema', owner: `response_format '${name}'` };
    return checkSchema(format.schema, format.strict === true, place);
  }
  if (format?.type !== 'json_object' || /json/i.test(JSON.stringify(input))) return undefined;
  const message =
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  return { param: 'input', code: null, message };
}

/** Models that reason take no temperature of their own; those that do not take nothing about reasoning. */
function checkModel(request: ResponsesRequest, model: ModelFacts): Problem | undefined {
  if (model.reasoning) {
    const name = ['temperature', 'top_p'].find((key) => request[key] !== undefined && request[key] !== 1);
    return name === undefined ? undefined : unsupported(name);
  }
  const setting = Object.entries(request.reasoning ?? {}).find(([, value]) => value !== null)?.[0];
  if (setting !== undefined) return unsupported(`reasoning.${setting}`);
  if (!request.include?.includes('reasoning.encrypted_content')) return undefined;
  return { param: 'include', code: null, message: 'Encrypted content is not supported with this model.' };
}

function unsupported(param: string): Problem {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return { param, code: 'unsupported_parameter', message };
}

/** Conversations and prompt templates are made elsewhere; there are none here. */
function refuseForeign({ conversation, prompt }: ResponsesRequest): void {
  const id = isRecord(conversation) ? conversation.id : conversation;
  if (id !== undefined) refuse(404, { message: `Conversation with id '${id}' not found.` });
  if (isRecord(prompt)) refuse(404, { message: `Prompt with id '${prompt.id}' not found.`, param: 'prompt' });
}
