/** The Response object: what the client asked for repeated, and what became of it. */
import { type ChatCall, isObject, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';
import type { StartEvent } from './decode-output.ts';
import { membersOf } from './fields.ts';

/** Ids of this protocol are their prefix and 48 hexadecimal digits. */
export const newId = (prefix: string): string =>
  `${prefix}${`${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll('-', '').slice(0, 48)}`;

export const now = (): number => Math.floor(Date.now() / 1000);

/** As it is before its first item. Every member that the protocol requires is there. */
export function openingResponse(start: StartEvent | null, { body, model }: ChatCall): JsonObject {
  const said = (name: string, otherwise: JsonValue): JsonValue => body[name] ?? otherwise;
  const text = membersOf(body.text);
  const reasoning = membersOf(body.reasoning);
  return {
    id: start?.id.startsWith('resp_') ? start.id : newId('resp_'),
    object: 'response',
    created_at: start?.created || now(),
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: said('instructions', null),
    max_output_tokens: said('max_output_tokens', null),
    max_tool_calls: said('max_tool_calls', null),
    model: start?.model || model,
    output: [],
    parallel_tool_calls: said('parallel_tool_calls', true),
    previous_response_id: said('previous_response_id', null),
    prompt_cache_key: said('prompt_cache_key', null),
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: said('safety_identifier', null),
    service_tier: 'default',
    store: said('store', true),
    temperature: said('temperature', 1),
    text: { format: text.format ?? { type: 'text' }, verbosity: text.verbosity ?? 'medium' },
    tool_choice: said('tool_choice', 'auto'),
    tools: (Array.isArray(body.tools) ? body.tools : []).map(wholeTool),
    top_logprobs: said('top_logprobs', 0),
    top_p: said('top_p', 1),
    truncation: said('truncation', 'disabled'),
    usage: null,
    user: said('user', null),
    metadata: said('metadata', {}),
  };
}

/** `strict` must be there, and `parameters`. */
function wholeTool(tool: JsonValue): JsonValue {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return { description: null, parameters: null, ...tool, strict: tool.strict ?? true };
}
