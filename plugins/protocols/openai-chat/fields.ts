/** Which request fields have a neutral place, and which of the others may not get lost on the way to another protocol. */
import { type JsonObject, packExtra } from '../../../engine/plugin.ts';

export const protocolName = 'openai-chat';

const neutralFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'reasoning_effort',
  'verbosity',
  'response_format',
  'user',
]);

/** They change what is answered; all others (storage, caching, tiers, hints) can be done without. */
const bindingFields = ['functions', 'function_call', 'logit_bias', 'audio', 'web_search_options', 'moderation'];

export function extraOf(body: JsonObject): JsonObject {
  const kept = Object.entries(body).filter(([name, value]) => !neutralFields.has(name) && value !== null);
  const fields: JsonObject = Object.fromEntries(kept);
  // The older name is kept in mind: some vendors of this protocol know only that one.
  if (usesOlderLimit(body)) fields.max_tokens = body.max_tokens!;
  return packExtra(protocolName, fields, bindingIn(fields));
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null;

function usesOlderLimit(body: JsonObject): boolean {
  return isSaid(body.max_tokens) && !isSaid(body.max_completion_tokens);
}

function bindingIn(fields: JsonObject): string[] {
  const binding = bindingFields.filter((name) => fields[name] !== undefined);
  if (fields.logprobs === true) binding.push('logprobs');
  const { modalities } = fields;
  if (Array.isArray(modalities) && modalities.some((one) => one !== 'text')) binding.push('modalities');
  return binding;
}
