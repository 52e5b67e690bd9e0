/** A neutral request for a vendor that speaks responses: it keeps nothing, and thoughts come back encrypted. */
import {
  type ChatPart,
  type ChatRequest,
  type ChatTool,
  isObject,
  type JsonObject,
  type JsonValue,
  ownSignature,
  present,
  takeExtra,
  unsupported,
} from '../../../engine/plugin.ts';
import { encodeInput, splitInstructions } from './encode-items.ts';
import { protocolName } from './fields.ts';

/** The vendor refuses a smaller bound. */
const leastOutput = 16;

/** What OpenAI's chat completions call by the same name. */
const sharedFields = ['metadata', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'];

/** Throws `unsupported_parameter` for what this protocol cannot say. */
export function encodeRequest(request: ChatRequest, vendorModel: string): JsonObject {
  refuseUnsaid(request);
  return {
    ...optionsOf(request),
    ...encodeQuestion(request, vendorModel),
    ...(request.stream ? { stream: true } : {}),
    store: false,
    ...(mayThink(request) ? { include: ['reasoning.encrypted_content'] } : {}),
  };
}

/** Models that do not think refuse to be asked for thoughts: only a request that speaks of them asks. */
function mayThink({ reasoningEffort, reasoningBudget, reasoningShown, messages }: ChatRequest): boolean {
  if (reasoningEffort !== null) return reasoningEffort !== 'none';
  if ((reasoningBudget ?? 0) !== 0 || reasoningShown === true) return true;
  const isOwn = (part: ChatPart): boolean =>
    part.type === 'reasoning' && ownSignature(protocolName, part.signature) !== null;
  return messages.some(({ parts }) => parts.some(isOwn));
}

/** The part of a request that costs input tokens. */
export function encodeQuestion(request: ChatRequest, vendorModel: string): JsonObject {
  const custom = new Set(request.tools.filter((tool) => tool.custom).map(({ name }) => name));
  const { instructions, rest } = splitInstructions(request.messages);
  return {
    model: vendorModel,
    input: encodeInput(rest, custom),
    ...present({
      instructions,
      tools: request.tools.map(encodeTool),
      tool_choice: encodeToolChoice(request.toolChoice, custom),
      parallel_tool_calls: request.parallelToolCalls,
      text: whole({ format: encodeFormat(request.responseFormat), verbosity: request.verbosity }),
      reasoning: whole({ effort: effortOf(request), summary: request.reasoningShown === true ? 'auto' : null }),
    }),
  };
}

function optionsOf(request: ChatRequest): JsonObject {
  const shared = request.extra.protocol === 'openai-chat' ? sharedFields : [];
  const bound = request.maxOutputTokens;
  return {
    ...takeExtra(request.extra, protocolName, shared),
    ...present({
      max_output_tokens: bound === null ? null : Math.max(bound, leastOutput),
      temperature: request.temperature,
      top_p: request.topP,
      user: request.user,
    }),
  };
}

/** An object with nothing in it is not said. */
function whole(members: Parameters<typeof present>[0]): JsonObject | null {
  const said = present(members);
  return Object.keys(said).length === 0 ? null : said;
}

function refuseUnsaid({ choices, presencePenalty, frequencyPenalty }: ChatRequest): void {
  const why = 'is not known to the protocol that this model’s vendor speaks.';
  if (choices !== null && choices > 1) throw unsupported('n', 'must be 1 for this model’s vendor.');
  if (presencePenalty) throw unsupported('presence_penalty', why);
  if (frequencyPenalty) throw unsupported('frequency_penalty', why);
}

/** Vendors take a missing `strict` for true. */
function encodeTool({ name, description, parameters, strict, custom }: ChatTool): JsonObject {
  if (custom) return { type: 'custom', ...present({ name, description }) };
  const schema = isObject(parameters) ? parameters : { properties: {} };
  return {
    type: 'function',
    ...present({ name, description }),
    parameters: { type: 'object', ...schema },
    strict: strict ?? false,
  };
}

function encodeToolChoice(choice: ChatRequest['toolChoice'], custom: ReadonlySet<string>): JsonValue {
  if (choice === null || typeof choice === 'string') return choice;
  return { type: custom.has(choice.name) ? 'custom' : 'function', name: choice.name };
}

function encodeFormat(format: ChatRequest['responseFormat']): JsonValue {
  if (format === null) return null;
  if (format.type !== 'schema') return { type: format.type === 'json' ? 'json_object' : 'text' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', name, schema, strict: strict ?? false };
}

/** A budget in tokens as the nearest word. */
function effortOf({ reasoningEffort, reasoningBudget }: ChatRequest): string | null {
  if (reasoningEffort !== null || reasoningBudget === null) return reasoningEffort;
  if (reasoningBudget <= 0) return reasoningBudget === 0 ? 'none' : null;
  if (reasoningBudget <= 2048) return 'low';
  return reasoningBudget <= 8192 ? 'medium' : 'high';
}
