/** A client's request in neutral form. Throws where a field has the wrong type or no neutral meaning. */
import {
  arrayAt,
  booleanOrNull,
  type ChatRequest,
  type ChatTool,
  customToolParameters,
  GatewayError,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectAt,
  stopAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';
import { decodeMessage } from './decode-message.ts';
import { extraOf } from './fields.ts';

export function decodeRequest(body: JsonObject): ChatRequest {
  const number = (name: string) => numberOrNull(body[name], name);
  return {
    model: stringAt(body.model, 'model'),
    stream: booleanOrNull(body.stream, 'stream') ?? false,
    messages: arrayAt(body.messages, 'messages').map(decodeMessage),
    tools: arrayAt(body.tools ?? [], 'tools').map(decodeTool),
    toolChoice: decodeToolChoice(body.tool_choice),
    parallelToolCalls: booleanOrNull(body.parallel_tool_calls, 'parallel_tool_calls'),
    maxOutputTokens: number('max_completion_tokens') ?? number('max_tokens'),
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    choices: number('n'),
    stop: stopAt(body.stop, 'stop'),
    seed: number('seed'),
    presencePenalty: number('presence_penalty'),
    frequencyPenalty: number('frequency_penalty'),
    reasoningEffort: stringOrNull(body.reasoning_effort, 'reasoning_effort'),
    reasoningBudget: null,
    reasoningShown: null,
    verbosity: stringOrNull(body.verbosity, 'verbosity'),
    responseFormat: decodeFormat(body.response_format),
    user: stringOrNull(body.user, 'user'),
    extra: extraOf(body),
  };
}

function decodeTool(value: JsonValue, index: number): ChatTool {
  const place = `tools[${index}]`;
  const tool = objectAt(value, place);
  if (tool.type === 'custom') return decodeCustomTool(tool, place);
  if (tool.type !== 'function') throw unsupported(`${place}.type`, 'must be `function` or `custom` for this model.');
  const definition = objectAt(tool.function, `${place}.function`);
  return {
    name: stringAt(definition.name, `${place}.function.name`),
    description: stringOrNull(definition.description, `${place}.function.description`),
    parameters: definition.parameters ?? null,
    strict: booleanOrNull(definition.strict, `${place}.function.strict`),
  };
}

function decodeCustomTool(tool: JsonObject, place: string): ChatTool {
  const custom = objectAt(tool.custom, `${place}.custom`);
  return {
    name: stringAt(custom.name, `${place}.custom.name`),
    description: stringOrNull(custom.description, `${place}.custom.description`),
    parameters: customToolParameters,
    strict: null,
    custom: true,
  };
}

function decodeToolChoice(value: JsonValue | undefined): ChatRequest['toolChoice'] {
  if (value === undefined || value === null) return null;
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string') {
    throw new GatewayError('invalid_value', '`tool_choice` must be `auto`, `none`, `required` or an object.', {
      param: 'tool_choice',
    });
  }
  const choice = objectAt(value, 'tool_choice');
  if (choice.type !== 'function' && choice.type !== 'custom')
    throw unsupported('tool_choice.type', 'must be `function` or `custom` for this model.');
  const place = `tool_choice.${choice.type}`;
  return { name: stringAt(objectAt(choice[choice.type], place).name, `${place}.name`) };
}

function decodeFormat(value: JsonValue | undefined): ChatRequest['responseFormat'] {
  if (value === undefined || value === null) return null;
  const format = objectAt(value, 'response_format');
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema') {
    const message = '`response_format.type` must be `text`, `json_object` or `json_schema`.';
    throw new GatewayError('invalid_value', message, { param: 'response_format.type' });
  }
  const place = 'response_format.json_schema';
  const described = objectAt(format.json_schema, place);
  return {
    type: 'schema',
    name: stringAt(described.name, `${place}.name`),
    schema: described.schema ?? {},
    strict: booleanOrNull(described.strict, `${place}.strict`),
  };
}
