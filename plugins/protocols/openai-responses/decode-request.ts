/** A client's request in neutral form. Throws where a field has the wrong type or no neutral meaning. */
import {
  booleanOrNull,
  type ChatMessage,
  type ChatRequest,
  GatewayError,
  type JsonObject,
  numberOrNull,
  objectAt,
  stringAt,
  stringOrNull,
} from '../../../engine/plugin.ts';
import { decodeInput } from './decode-items.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { extraOf, membersOf } from './fields.ts';

export function decodeRequest(body: JsonObject): ChatRequest {
  const number = (name: string) => numberOrNull(body[name], name);
  const reasoning = membersOf(body.reasoning);
  const summary = reasoning.summary ?? reasoning.generate_summary ?? null;
  return {
    model: stringAt(body.model, 'model'),
    stream: booleanOrNull(body.stream, 'stream') ?? false,
    messages: [...instructionsOf(body), ...decodeInput(body.input)],
    tools: decodeTools(body.tools),
    toolChoice: decodeToolChoice(body.tool_choice),
    parallelToolCalls: booleanOrNull(body.parallel_tool_calls, 'parallel_tool_calls'),
    maxOutputTokens: number('max_output_tokens'),
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: null,
    choices: null,
    stop: [],
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    reasoningEffort: stringOrNull(reasoning.effort, 'reasoning.effort'),
    reasoningBudget: null,
    reasoningShown: summary === null ? null : true,
    verbosity: stringOrNull(membersOf(body.text).verbosity, 'text.verbosity'),
    responseFormat: decodeFormat(body),
    user: stringOrNull(body.user, 'user') ?? stringOrNull(body.safety_identifier, 'safety_identifier'),
    extra: extraOf(body),
  };
}

function instructionsOf(body: JsonObject): ChatMessage[] {
  const text = stringOrNull(body.instructions, 'instructions');
  return text === null || text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }];
}

function decodeFormat(body: JsonObject): ChatRequest['responseFormat'] {
  const value = membersOf(body.text).format;
  if (value === undefined || value === null) return null;
  const place = 'text.format';
  const format = objectAt(value, place);
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema')
    throw new GatewayError('invalid_value', `\`${place}.type\` must be \`text\`, \`json_object\` or \`json_schema\`.`, {
      param: `${place}.type`,
    });
  return {
    type: 'schema',
    name: stringAt(format.name, `${place}.name`),
    schema: format.schema ?? {},
    strict: booleanOrNull(format.strict, `${place}.strict`),
  };
}
