/** Which request fields have a neutral place, and which of the others may not get lost on the way to another protocol. */
import { isObject, type JsonObject, type JsonValue, packExtra } from '../../../engine/plugin.ts';

export const protocolName = 'openai-responses';

/** `previous_response_id` is here because the engine has put the stored conversation into `input` by then. */
const neutralFields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'store',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'user',
]);

/** They change what is answered; all others (caching, tiers, hints) can be done without. */
const bindingFields = ['prompt', 'moderation', 'max_tool_calls'];

export function extraOf(body: JsonObject): JsonObject {
  const kept = Object.entries(body).filter(([name, value]) => !neutralFields.has(name) && value !== null);
  const fields: JsonObject = Object.fromEntries(kept);
  return packExtra(protocolName, fields, bindingIn(fields));
}

function bindingIn(fields: JsonObject): string[] {
  const binding = bindingFields.filter((name) => fields[name] !== undefined);
  if (typeof fields.top_logprobs === 'number' && fields.top_logprobs > 0) binding.push('top_logprobs');
  if (asksLogprobs(fields.include)) binding.push('include');
  return binding;
}

const asksLogprobs = (include: JsonValue | undefined): boolean =>
  Array.isArray(include) && include.includes('message.output_text.logprobs');

/** The members of an object field; none where it is absent or something else. */
export const membersOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

export const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
