/** A neutral request for a vendor that speaks chat completions. */
import {
  type ChatRequest,
  type ChatTool,
  type JsonObject,
  type JsonValue,
  present,
  takeExtra,
  openAiTakesStop as takesStop,
} from '../../../engine/plugin.ts';
import { encodeMessages } from './encode-messages.ts';
import { protocolName } from './fields.ts';
import { takesThoughts } from './takes-thoughts.ts';

/** Throws `unsupported_parameter` for what this protocol cannot say. */
export function encodeRequest(request: ChatRequest, vendorModel: string): JsonObject {
  const { max_tokens: olderLimit, ...extra } = takeExtra(request.extra, protocolName, ['logit_bias']);
  const limit = olderLimit === undefined ? 'max_completion_tokens' : 'max_tokens';
  return {
    ...extra,
    model: vendorModel,
    messages: encodeMessages(request.messages, takesThoughts(vendorModel)),
    ...present({
      tools: request.tools.map(encodeTool),
      ...encodeToolUse(request),
      [limit]: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      n: request.choices,
      stop: request.stop.filter(takesStop),
      seed: request.seed,
      presence_penalty: request.presencePenalty,
      frequency_penalty: request.frequencyPenalty,
      reasoning_effort: encodeEffort(request),
      verbosity: request.verbosity,
      response_format: encodeFormat(request.responseFormat),
      user: request.user,
    }),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** A budget of tokens in the words of this protocol; `max` is more than it has a word for. */
function encodeEffort({ reasoningEffort, reasoningBudget }: ChatRequest): string | null {
  if (reasoningEffort !== null) return reasoningEffort === 'max' ? 'xhigh' : reasoningEffort;
  if (reasoningBudget === null || reasoningBudget < 0) return null;
  if (reasoningBudget === 0) return 'none';
  if (reasoningBudget <= 2048) return 'low';
  return reasoningBudget <= 8192 ? 'medium' : 'high';
}

function encodeTool({ name, description, parameters, strict }: ChatTool): JsonObject {
  return { type: 'function', function: present({ name, description, parameters, strict }) };
}

/** Vendors refuse to be told how to use tools where there are none; who must call one is told by the vendor. */
function encodeToolUse({ tools, toolChoice, parallelToolCalls }: ChatRequest): Record<string, JsonValue> {
  const isIdle = tools.length === 0 && (toolChoice === 'auto' || toolChoice === 'none');
  return {
    tool_choice: isIdle ? null : encodeToolChoice(toolChoice),
    parallel_tool_calls: tools.length === 0 ? null : parallelToolCalls,
  };
}

function encodeToolChoice(choice: ChatRequest['toolChoice']): JsonValue {
  if (choice === null || typeof choice === 'string') return choice;
  return { type: 'function', function: { name: choice.name } };
}

function encodeFormat(format: ChatRequest['responseFormat']): JsonValue {
  if (format === null) return null;
  if (format.type !== 'schema') return { type: format.type === 'json' ? 'json_object' : 'text' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, ...(strict === null ? {} : { strict }) } };
}
