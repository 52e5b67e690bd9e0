/** Tools and how they may be used, in neutral form. */
import {
  arrayAt,
  type ChatRequest,
  type ChatTool,
  GatewayError,
  isObject,
  type JsonObject,
  type JsonValue,
  stringAt,
  stringOrNull,
} from '../../../engine/plugin.ts';
import { decodeSchema } from './decode-schema.ts';
import { listOf, messageAt, optionalMessage } from './fields.ts';

export interface DecodedTools {
  readonly tools: readonly ChatTool[];
  readonly toolChoice: ChatRequest['toolChoice'];
  /** Entries with tools that run at the vendor, as they came. */
  readonly vendorTools: readonly JsonObject[];
}

export function decodeTools(tools: JsonValue | undefined, toolConfig: JsonValue | undefined): DecodedTools {
  const declared: ChatTool[] = [];
  const vendorTools: JsonObject[] = [];
  for (const [index, tool] of listOf(tools).entries()) {
    const place = `tools[${index}]`;
    const { functionDeclarations, ...others } = messageAt(tool, place);
    if (Object.keys(others).length > 0) vendorTools.push(others);
    for (const [at, one] of listOf(functionDeclarations).entries())
      declared.push(decodeDeclaration(one, `${place}.functionDeclarations[${at}]`));
  }
  return { ...decodeChoice(toolConfig, declared), vendorTools };
}

function decodeDeclaration(value: JsonValue, place: string): ChatTool {
  const { name, description, parameters, parametersJsonSchema } = messageAt(value, place);
  return {
    name: stringAt(name, `${place}.name`),
    description: stringOrNull(description, `${place}.description`),
    parameters: parametersJsonSchema ?? (isObject(parameters) ? decodeSchema(parameters, `${place}.parameters`) : null),
    strict: null,
  };
}

/** Several allowed functions stand as the only tools there are. */
function decodeChoice(toolConfig: JsonValue | undefined, declared: readonly ChatTool[]) {
  const place = 'toolConfig.functionCallingConfig';
  const { functionCallingConfig } = optionalMessage(toolConfig, 'toolConfig');
  const { mode, allowedFunctionNames } = optionalMessage(functionCallingConfig, place);
  const names = arrayAt(allowedFunctionNames ?? [], `${place}.allowedFunctionNames`);
  const tools = names.length === 0 ? declared : declared.filter(({ name }) => names.includes(name));
  const [only] = names;
  const word = stringOrNull(mode, `${place}.mode`);
  if (word === 'ANY' && names.length === 1)
    return { tools: declared, toolChoice: { name: stringAt(only, `${place}.allowedFunctionNames[0]`) } };
  return { tools, toolChoice: choiceOf(word, `${place}.mode`) };
}

function choiceOf(mode: string | null, place: string): ChatRequest['toolChoice'] {
  switch (mode) {
    case null:
    case 'MODE_UNSPECIFIED':
      return null;
    case 'AUTO':
    case 'VALIDATED':
      return 'auto';
    case 'ANY':
      return 'required';
    case 'NONE':
      return 'none';
    default:
      throw new GatewayError('invalid_value', `\`${place}\` must be AUTO, ANY, NONE or VALIDATED.`, { param: place });
  }
}
