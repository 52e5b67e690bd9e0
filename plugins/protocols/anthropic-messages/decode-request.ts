/** A client's request in neutral form. Throws where a field has the wrong type or no neutral meaning. */
import {
  arrayAt,
  booleanOrNull,
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  GatewayError,
  isObject,
  isStrictSchema,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectAt,
  stopAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';
import { decodeMessages, decodeText } from './decode-messages.ts';
import { decodeThinking } from './decode-thinking.ts';
import { extraOf } from './fields.ts';

export function decodeRequest(body: JsonObject): ChatRequest {
  const number = (name: string) => numberOrNull(body[name], name);
  const choice = isObject(body.tool_choice) ? body.tool_choice : null;
  const output = isObject(body.output_config) ? body.output_config : {};
  return {
    model: stringAt(body.model, 'model'),
    stream: booleanOrNull(body.stream, 'stream') ?? false,
    messages: [...decodeSystem(body.system), ...decodeMessages(arrayAt(body.messages, 'messages'))],
    tools: arrayAt(body.tools ?? [], 'tools').map(decodeTool),
    toolChoice: decodeToolChoice(choice),
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : null,
    maxOutputTokens: decodeLimit(number('max_tokens')),
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    choices: null,
    stop: stopAt(body.stop_sequences, 'stop_sequences'),
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    reasoningEffort: stringOrNull(output.effort, 'output_config.effort'),
    ...decodeThinking(body.thinking),
    verbosity: null,
    responseFormat: decodeFormat(output.format ?? body.output_format),
    user: isObject(body.metadata) ? stringOrNull(body.metadata.user_id, 'metadata.user_id') : null,
    extra: extraOf(body),
  };
}

/** Blocks of system text are one text: not every vendor takes parts there. */
function decodeSystem(value: JsonValue | undefined): ChatMessage[] {
  if (value === undefined || value === null) return [];
  const text = decodeText(value, 'system');
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }];
}

function decodeLimit(limit: number | null): number | null {
  if (limit !== 0) return limit;
  throw unsupported('max_tokens', 'of 0 only warms the vendor’s cache, which this model’s vendor does not offer.');
}

function decodeTool(value: JsonValue, index: number): ChatTool {
  const place = `tools[${index}]`;
  const tool = objectAt(value, place);
  if ((tool.type ?? 'custom') !== 'custom')
    throw unsupported(`${place}.type`, 'names a tool that only its own vendor’s models know.');
  const parameters = objectAt(tool.input_schema, `${place}.input_schema`);
  const binds = booleanOrNull(tool.strict, `${place}.strict`);
  return {
    name: stringAt(tool.name, `${place}.name`),
    description: stringOrNull(tool.description, `${place}.description`),
    parameters,
    // Members that may be missing are nothing that other vendors bind a model to.
    strict: binds === true ? isStrictSchema(parameters) : binds,
  };
}

function decodeToolChoice(choice: JsonObject | null): ChatRequest['toolChoice'] {
  switch (choice?.type) {
    case undefined:
      return null;
    case 'auto':
    case 'none':
      return choice!.type;
    case 'any':
      return 'required';
    case 'tool':
      return { name: stringAt(choice!.name, 'tool_choice.name') };
    default:
      throw new GatewayError('invalid_value', '`tool_choice.type` must be `auto`, `any`, `none` or `tool`.', {
        param: 'tool_choice.type',
      });
  }
}

/** A schema of this protocol has no name, and binds the model: others bind it only to members that must be there. */
function decodeFormat(value: JsonValue | undefined): ChatRequest['responseFormat'] {
  if (value === undefined || value === null) return null;
  const format = objectAt(value, 'output_config.format');
  if (format.type !== 'json_schema') throw unsupported('output_config.format.type', 'must be `json_schema`.');
  const schema = objectAt(format.schema, 'output_config.format.schema');
  return { type: 'schema', name: 'answer', schema, strict: isStrictSchema(schema) };
}
