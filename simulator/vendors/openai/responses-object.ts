import { epochSeconds, nextId } from '../../answers.ts';
import type { Item } from './responses-items.ts';
import type { Outcome, Question } from './responses-outcome.ts';
import { inputTokens, usageOf } from './responses-tokens.ts';

/** A response object; `opening` is what it is before its first item. */
export interface ResponseObject {
  readonly id: string;
  readonly status: string;
  readonly output: readonly Item[];
  readonly [name: string]: unknown;
}

export function describeOpening({ request, model }: Question): ResponseObject {
  const { text, reasoning, service_tier: tier = 'auto' } = request;
  return {
    id: nextId('resp_'),
    object: 'response',
    created_at: epochSeconds(),
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model: model.dated,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    reasoning: {
      effort: reasoning?.effort ?? (model.reasoning ? 'medium' : null),
      summary: reasoning?.summary ?? reasoning?.generate_summary ?? null,
    },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: tier === 'auto' ? 'default' : tier,
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: text?.format ?? { type: 'text' }, verbosity: text?.verbosity ?? 'medium' },
    tool_choice: request.tool_choice ?? 'auto',
    tools: (request.tools ?? []).map((tool) =>
      tool.type === 'function' ? { description: null, ...tool, strict: tool.strict ?? true } : tool,
    ),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
}

/** The same response at its end. */
export function describeEnd(opening: ResponseObject, outcome: Outcome, question: Question): ResponseObject {
  const { conversation, request, steering, call } = question;
  const { usage: _, ...rest } = opening;
  const usage = usageOf(inputTokens(conversation, request), outcome.outputTokens, steering.cached, steering.reasoning);
  return {
    ...(rest as ResponseObject),
    ...(call.fault.nousage ? {} : { usage }),
    status: outcome.incomplete === undefined ? 'completed' : 'incomplete',
    completed_at: outcome.incomplete === undefined ? epochSeconds() : null,
    incomplete_details: outcome.incomplete === undefined ? null : { reason: outcome.incomplete },
    output: outcome.produced.map(({ item }) => item),
  };
}
