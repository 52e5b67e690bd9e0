/** A neutral request for a vendor that speaks messages. */
import {
  type ChatRequest,
  type ChatTool,
  isObject,
  type JsonObject,
  type JsonValue,
  present,
  takeExtra,
  unsupported,
} from '../../../engine/plugin.ts';
import { type Conversation, encodeConversation } from './encode-messages.ts';
import { encodeSampling, planThinking, type ThinkingPlan } from './encode-thinking.ts';
import { protocolName } from './fields.ts';

/** A bound is required here; this is asked for where neither the client nor the model has one. */
const usualLimit = 4096;

/** The vendor refuses sequences of blanks alone. */
export const takesStop = (sequence: string): boolean => sequence.trim() !== '';

/** Throws `unsupported_parameter` for what this protocol cannot say. `mostOutput`: the model's maximum, null: unknown. */
export function encodeRequest(request: ChatRequest, vendorModel: string, mostOutput: number | null = null): JsonObject {
  if ((request.choices ?? 1) > 1) throw unsupported('n', 'must be 1: this model’s vendor gives one answer.');
  const extra = takeExtra(request.extra, protocolName);
  const conversation = encodeConversation(request.messages);
  const plan = planThinking(request, vendorModel, conversation, mostOutput ?? usualLimit);
  return {
    ...extra,
    ...encodePrompt(request, vendorModel, conversation, plan),
    max_tokens: plan.maxTokens,
    ...present({
      ...encodeSampling(request, plan),
      stop_sequences: request.stop.filter(takesStop),
      metadata: request.user === null ? null : { user_id: request.user },
    }),
    ...(request.stream ? { stream: true } : {}),
  };
}

/** The same without what only an answer needs, for a vendor that counts tokens. */
export function encodeCountRequest(request: ChatRequest, vendorModel: string): JsonObject {
  const conversation = encodeConversation(request.messages);
  return encodePrompt(request, vendorModel, conversation, planThinking(request, vendorModel, conversation, usualLimit));
}

function encodePrompt(
  request: ChatRequest,
  vendorModel: string,
  { system, messages }: Conversation,
  { thinking, effort }: ThinkingPlan,
): JsonObject {
  const format = request.responseFormat;
  const instructed = format?.type === 'json' ? [system, jsonInstruction].filter(Boolean).join('\n\n') : system;
  const output = present({ effort, format: format?.type === 'schema' ? encodeFormat(format.schema) : null });
  return {
    model: vendorModel,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...present({
      system: instructed || null,
      tools: request.tools.map(encodeTool),
      tool_choice: request.tools.length === 0 ? null : encodeToolChoice(request),
      thinking,
      output_config: Object.keys(output).length === 0 ? null : output,
    }),
  };
}

/** Without a schema there is no mode for JSON here. */
const jsonInstruction = 'Answer with one JSON object and nothing else: no explanation, no code fence.';

function encodeTool({ name, description, parameters, strict }: ChatTool): JsonObject {
  const schema = isObject(parameters) ? parameters : { properties: {} };
  return {
    name,
    ...present({ description, strict: strict || null }),
    input_schema: { type: 'object', ...schema },
  };
}

function encodeToolChoice({ toolChoice, parallelToolCalls }: ChatRequest): JsonValue {
  if (toolChoice === 'none') return { type: 'none' };
  const alone = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === null) return parallelToolCalls === false ? { type: 'auto', ...alone } : null;
  if (typeof toolChoice === 'object') return { type: 'tool', name: toolChoice.name, ...alone };
  return { type: toolChoice === 'required' ? 'any' : 'auto', ...alone };
}

function encodeFormat(schema: JsonValue): JsonObject {
  return { type: 'json_schema', schema: closed(schema) };
}

/** A schema is enforced here, which needs every object to say that it has no other members. */
function closed(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = schema.type === 'object' && schema.additionalProperties === undefined;
  return isOpen ? { ...members, additionalProperties: false } : members;
}
