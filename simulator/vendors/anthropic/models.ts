import { jsonAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { anthropicHeaders, refuse } from './errors.ts';

export interface ModelFacts {
  /** The dated name that answers report. */
  readonly dated: string;
  readonly displayName: string;
  readonly line: string;
  readonly created: string;
  readonly deprecated?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly thinking: readonly string[];
  readonly effort: boolean;
  /** Whether an answer may be begun by a last message of the assistant. */
  readonly prefill: boolean;
}

const MODELS: Record<string, ModelFacts> = {
  'claude-sonnet-5-5': {
    dated: 'claude-sonnet-5-5',
    displayName: 'Claude Sonnet 5.5',
    line: 'sonnet',
    created: '2026-08-01T00:00:00Z',
    inputTokens: 1_000_000,
    outputTokens: 128_000,
    thinking: ['enabled', 'adaptive', 'between_tools', 'disabled'],
    effort: true,
    prefill: false,
  },
  'claude-haiku-4-5': {
    dated: 'claude-haiku-4-5-20251001',
    displayName: 'Claude Haiku 4.5',
    line: 'haiku',
    created: '2025-10-15T00:00:00Z',
    inputTokens: 200_000,
    outputTokens: 64_000,
    thinking: ['enabled', 'disabled'],
    effort: false,
    prefill: true,
  },
  'claude-sonnet-4-0': {
    dated: 'claude-sonnet-4-20250514',
    displayName: 'Claude Sonnet 4',
    line: 'sonnet',
    created: '2025-05-22T00:00:00Z',
    deprecated: '2026-04-01T00:00:00Z',
    inputTokens: 200_000,
    outputTokens: 64_000,
    thinking: ['enabled', 'disabled'],
    effort: false,
    prefill: true,
  },
};

const MOST_LISTED = 1000;

function findModel(name: string): ModelFacts {
  const facts = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  const dated = facts ?? Object.values(MODELS).find((model) => model.dated === name);
  return dated ?? refuse(404, { type: 'not_found_error', message: `model: ${name}` });
}

export function modelFor(call: Call): ModelFacts {
  if (call.model === undefined) return refuse(400, { message: 'model: Field required' });
  return findModel(call.model);
}

function describeModel(facts: ModelFacts): { id: string; lifecycle: string } {
  const supported = (yes: boolean) => ({ supported: yes });
  const thinking = (type: string) => supported(facts.thinking.includes(type));
  const levels = ['low', 'medium', 'high', 'xhigh', 'max'].map((level) => [level, supported(facts.effort)]);
  const model = {
    type: 'model',
    id: facts.dated,
    display_name: facts.displayName,
    created_at: facts.created,
    line: facts.line,
    lifecycle: facts.deprecated ? 'deprecated' : 'active',
    deprecated_at: facts.deprecated ?? null,
    retires_at: null,
    max_input_tokens: facts.inputTokens,
    max_tokens: facts.outputTokens,
    capabilities: {
      batch: supported(false),
      citations: supported(false),
      code_execution: supported(false),
      context_management: {
        ...supported(false),
        clear_thinking_20251015: null,
        clear_tool_uses_20250919: null,
        compact_20260112: null,
      },
      effort: { ...supported(facts.effort), ...Object.fromEntries(levels) },
      image_input: supported(true),
      pdf_input: supported(true),
      server_tools: { ...supported(false), code_execution: supported(false), web_search: supported(false) },
      structured_outputs: supported(true),
      thinking: {
        ...supported(true),
        types: Object.fromEntries(
          ['adaptive', 'between_tools', 'disabled', 'enabled'].map((type) => [type, thinking(type)]),
        ),
      },
    },
  };
  return model;
}

/** `GET /v1/models?limit=&after_id=&before_id=&lifecycle=`, the newest model first. */
export function answerModels(call: Call): Answer {
  const { query } = call;
  const limit = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED)
    refuse(400, { message: `limit: Input should be an integer from 1 to ${MOST_LISTED}` });
  const lifecycles = [...query.getAll('lifecycle'), ...query.getAll('lifecycle[]')];
  const all = Object.values(MODELS).map(describeModel);
  const models = all.filter(({ lifecycle }) => lifecycles.length === 0 || lifecycles.includes(lifecycle));
  const place = (name: string): number | undefined => {
    const id = query.get(name);
    if (id === null) return undefined;
    const index = models.findIndex((model) => model.id === id);
    return index < 0 ? refuse(400, { message: `${name}: no such model: ${id}` }) : index;
  };
  const before = place('before_id');
  const after = (place('after_id') ?? -1) + 1;
  const data =
    before === undefined ? models.slice(after, after + limit) : models.slice(Math.max(after, before - limit), before);
  const more = before === undefined ? after + limit < models.length : before - limit > after;
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return jsonAnswer(200, { data, first_id: first, last_id: last, has_more: more }, anthropicHeaders());
}

export function answerModel(id: string): Answer {
  return jsonAnswer(200, describeModel(findModel(id)), anthropicHeaders());
}
