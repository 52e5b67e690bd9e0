/** Tools and the choice among them in neutral form. */
import {
  arrayAt,
  booleanOrNull,
  type ChatRequest,
  type ChatTool,
  customToolParameters,
  GatewayError,
  isObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';

export const decodeTools = (tools: JsonValue | undefined): ChatTool[] => arrayAt(tools ?? [], 'tools').map(decodeTool);

function decodeTool(value: JsonValue, index: number): ChatTool {
  const place = `tools[${index}]`;
  const tool = objectAt(value, place);
  const type = stringAt(tool.type, `${place}.type`);
  if (type === 'custom') return decodeCustom(tool, place);
  if (type !== 'function')
    throw unsupported(`${place}.type`, `\`${type.slice(0, 60)}\` runs at a vendor that this model does not have.`);
  return {
    name: stringAt(tool.name, `${place}.name`),
    description: stringOrNull(tool.description, `${place}.description`),
    parameters: tool.parameters ?? null,
    strict: booleanOrNull(tool.strict, `${place}.strict`),
  };
}

/** Where no grammar can be enforced, the model is told of it. */
function decodeCustom(tool: JsonObject, place: string): ChatTool {
  const said = stringOrNull(tool.description, `${place}.description`);
  const description = [said, grammarOf(tool.format)].filter((text) => text !== null && text !== '').join('\n\n');
  return {
    name: stringAt(tool.name, `${place}.name`),
    description: description === '' ? null : description,
    parameters: customToolParameters,
    strict: null,
    custom: true,
  };
}

function grammarOf(format: JsonValue | undefined): string | null {
  if (!isObject(format) || format.type !== 'grammar' || typeof format.definition !== 'string') return null;
  return `The input must follow this ${String(format.syntax)} grammar:\n${format.definition}`;
}

export function decodeToolChoice(value: JsonValue | undefined): ChatRequest['toolChoice'] {
  if (value === undefined || value === null) return null;
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string')
    throw new GatewayError('invalid_value', '`tool_choice` must be `auto`, `none`, `required` or an object.', {
      param: 'tool_choice',
    });
  const choice = objectAt(value, 'tool_choice');
  if (choice.type !== 'function' && choice.type !== 'custom')
    throw unsupported('tool_choice.type', 'must be `function` or `custom` for this model.');
  return { name: stringAt(choice.name, 'tool_choice.name') };
}

/** Names of the tools that take plain text: their calls go back to the client as such. */
export function customToolNames({ tools }: JsonObject): ReadonlySet<string> {
  const names = (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isObject(tool) && tool.type === 'custom' && typeof tool.name === 'string' ? [tool.name] : [],
  );
  return new Set(names);
}
