import { isRecord } from '../../checks.ts';
import { CACHE_CONTROL, type CacheControl } from './blocks.ts';
import {
  anything,
  type Check,
  choice,
  dictionary,
  first,
  flag,
  list,
  nullable,
  object,
  tagged,
  text,
} from './checks.ts';

export interface Tool {
  readonly type?: string | null;
  readonly name: string;
  readonly input_schema?: Record<string, unknown>;
  readonly strict?: boolean;
  readonly cache_control?: CacheControl | null;
}

export interface ToolChoice {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: boolean;
}

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Tools with a date are the vendor's own: `web_search_20260318`. */
const OWN_TOOL = /^[a-z0-9_]+_\d{8}$/;

const CUSTOM_TOOL = object(
  {
    type: nullable(anything),
    name: text(1, 128, NAME),
    description: text(),
    input_schema: checkInputSchema,
    strict: flag,
    cache_control: CACHE_CONTROL,
    allowed_callers: list(text()),
    defer_loading: flag,
    eager_input_streaming: nullable(flag),
    input_examples: list(dictionary),
  },
  ['name', 'input_schema'],
);

const checkTool: Check = (value, path) => {
  if (!isRecord(value)) return `${path}: Input should be an object`;
  const { type } = value;
  if (type === undefined || type === null || type === 'custom')
    return CUSTOM_TOOL(value, `${path}.custom`) ?? checkStrict(value, `${path}.custom`);
  if (typeof type === 'string' && OWN_TOOL.test(type)) return CACHE_CONTROL(value.cache_control ?? null, path);
  return `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'custom'`;
};

export const TOOLS: Check = list(checkTool);

const parallel = { type: anything, disable_parallel_tool_use: flag };
export const TOOL_CHOICE: Check = tagged({
  auto: object(parallel),
  any: object(parallel),
  tool: object({ ...parallel, name: text(1) }, ['name']),
  none: object({ type: anything }),
});

function checkInputSchema(value: unknown, path: string): string | undefined {
  if (!isRecord(value)) return `${path}: Input should be a valid dictionary`;
  if (value.type === undefined) return `${path}.type: Field required`;
  if (value.type !== 'object') return choice('object')(value.type, `${path}.type`);
  if (['oneOf', 'allOf', 'anyOf'].some((name) => name in value))
    return `${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  return undefined;
}

function checkStrict(tool: Record<string, unknown>, path: string): string | undefined {
  return tool.strict === true ? checkClosed(tool.input_schema, `${path}.input_schema`) : undefined;
}

/** Schemas that are enforced must close every object. */
export function checkClosed(schema: unknown, path: string): string | undefined {
  if (Array.isArray(schema)) return first(schema, (entry) => checkClosed(entry, path));
  if (!isRecord(schema)) return undefined;
  if (schema.type === 'object' && schema.additionalProperties !== false)
    return `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  const { properties, $defs, items, anyOf, allOf } = schema;
  const named = [properties, $defs].filter(isRecord).flatMap((group) => Object.values(group));
  return first([...named, items, anyOf, allOf], (entry) => checkClosed(entry, path));
}

/** What is wrong with tools and their choice taken together. */
export function checkToolUse(tools: readonly Tool[] | undefined, wanted: ToolChoice | undefined): string | undefined {
  const names = (tools ?? []).map(({ name }) => name);
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  if (!wanted) return undefined;
  if (names.length === 0) return 'tool_choice: tool_choice may only be specified while providing tools';
  if (wanted.type === 'tool' && !names.includes(wanted.name!))
    return `tool_choice: Tool '${wanted.name}' not found in provided tools`;
  return undefined;
}

export const forces = (wanted: ToolChoice | undefined): boolean => wanted?.type === 'any' || wanted?.type === 'tool';
