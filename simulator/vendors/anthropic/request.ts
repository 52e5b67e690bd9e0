import type { Call } from '../../contract.ts';
import { type Block, CACHE_CONTROL, type CacheControl, checkMessage, TEXT_BLOCK } from './blocks.ts';
import {
  anything,
  checkFields,
  choice,
  decimal,
  dictionary,
  type Fields,
  first,
  flag,
  integer,
  list,
  nullable,
  object,
  tagged,
  text,
  textOr,
} from './checks.ts';
import { betasOf, jsonBody, OLD_VERSION, refuseProblem } from './errors.ts';
import { type ModelFacts, modelFor } from './models.ts';
import { checkThinking, THINKING, type Thinking } from './thinking.ts';
import { checkClosed, checkToolUse, TOOL_CHOICE, TOOLS, type Tool, type ToolChoice } from './tools.ts';
import { checkTurns, type Message, type Turn, turnsOf } from './turns.ts';

const MOST_CACHE_CONTROLS = 4;
const MOST_MESSAGES = 100_000;

/** What `/v1/messages` and `/v1/messages/count_tokens` share. */
const PROMPT_FIELDS: Fields = {
  model: text(1, 256),
  messages: list(checkMessage, 1),
  system: textOr(list(tagged({ text: TEXT_BLOCK }))),
  tools: TOOLS,
  tool_choice: TOOL_CHOICE,
  thinking: THINKING,
  output_config: object({
    effort: nullable(choice('low', 'medium', 'high', 'xhigh', 'max')),
    format: nullable(object({ type: choice('json_schema'), schema: dictionary }, ['type', 'schema'])),
  }),
  cache_control: CACHE_CONTROL,
  speed: nullable(choice('standard', 'fast')),
  user_profile_id: text(),
  workspace_id: text(),
};

const MESSAGES_FIELDS: Fields = {
  ...PROMPT_FIELDS,
  max_tokens: integer(0),
  stop_sequences: list((value, path) => {
    const blank = typeof value === 'string' && value.trim() === '';
    return (
      text()(value, path) ?? (blank ? 'stop_sequences: each stop sequence must contain non-whitespace' : undefined)
    );
  }),
  stream: flag,
  metadata: object({ user_id: nullable(text(0, 512)) }),
  service_tier: choice('auto', 'standard_only'),
  inference_geo: nullable(text()),
  container: nullable(anything),
  diagnostics: nullable(dictionary),
};

const SAMPLING: Fields = { temperature: decimal(0, 1), top_p: decimal(0, 1), top_k: integer(0) };
/** Known where a beta is asked for. */
const BETA_FIELDS: Fields = { mcp_servers: list(dictionary), context_management: nullable(dictionary) };

/** A checked request. */
export interface MessagesRequest {
  readonly messages: readonly Message[];
  readonly system?: string | readonly Block[];
  /** Absent when tokens are counted. */
  readonly max_tokens?: number;
  readonly tools?: readonly Tool[];
  readonly tool_choice?: ToolChoice;
  readonly thinking?: Thinking;
  readonly output_config?: { effort?: string | null; format?: { schema: Record<string, unknown> } | null };
  readonly stop_sequences?: readonly string[];
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly cache_control?: CacheControl | null;
}

export interface CheckedRequest {
  readonly request: MessagesRequest;
  readonly turns: readonly Turn[];
  readonly model: ModelFacts;
}

/** Checks a request as Anthropic does, or refuses it. */
export function readMessagesRequest(call: Call, counting: boolean): CheckedRequest {
  const body = jsonBody(call);
  const model = modelFor(call);
  const isOld = call.headers['anthropic-version'] === OLD_VERSION;
  const fields = {
    ...(counting ? PROMPT_FIELDS : MESSAGES_FIELDS),
    ...(isOld && !counting ? SAMPLING : {}),
    ...(betasOf(call).length > 0 ? BETA_FIELDS : {}),
  };
  const required = counting ? ['messages'] : ['messages', 'max_tokens'];
  refuseProblem(checkFields(body, fields, required, '', call.fault.lenient));
  const request = body as unknown as MessagesRequest;
  const turns = turnsOf(request.messages);
  refuseProblem(
    checkLimits(request, model) ??
      (isOld ? undefined : checkNewRules(turns)) ??
      checkTurns(request.messages) ??
      checkToolUse(request.tools, request.tool_choice) ??
      checkFormat(request) ??
      checkPrefill(turns, model) ??
      checkThinking(request, turns, model),
  );
  return { request, turns, model };
}

function checkLimits(request: MessagesRequest, model: ModelFacts): string | undefined {
  const { max_tokens: most = 0, temperature, top_p } = request;
  if (most > model.outputTokens)
    return `max_tokens: ${most} > ${model.outputTokens}, which is the maximum allowed number of output tokens for ${model.dated}`;
  if (request.messages.length > MOST_MESSAGES) return `messages: List should have at most ${MOST_MESSAGES} items`;
  if (temperature !== undefined && top_p !== undefined)
    return '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
  const marks = cacheMarks(request);
  return marks > MOST_CACHE_CONTROLS
    ? `A maximum of ${MOST_CACHE_CONTROLS} blocks with cache_control may be provided. Found ${marks}.`
    : undefined;
}

function cacheMarks({ system = [], tools = [], messages, cache_control }: MessagesRequest): number {
  const inside = (content: string | readonly Block[]): (Block | Tool)[] =>
    typeof content === 'string' ? [] : content.flatMap((block) => [block, ...inside(block.content ?? [])]);
  const marked = [
    { cache_control },
    ...tools,
    ...inside(system),
    ...messages.flatMap(({ content }) => inside(content)),
  ];
  return marked.filter((holder) => holder.cache_control).length;
}

/** The version of 2026-10-21 knows no documents of the assistant's and no citations in the user's texts. */
function checkNewRules(turns: readonly Turn[]): string | undefined {
  return first(turns, ({ role, blocks, at }) =>
    first(blocks, ({ type, citations }) => {
      if (role === 'assistant' && type === 'document')
        return `messages.${at}: document blocks are not permitted in assistant messages`;
      const cited = role === 'user' && type === 'text' && (citations?.length ?? 0) > 0;
      return cited ? `messages.${at}: citations are not permitted on text blocks in user messages` : undefined;
    }),
  );
}

function checkFormat({ output_config: output }: MessagesRequest): string | undefined {
  return output?.format ? checkClosed(output.format.schema, 'output_config.format.schema') : undefined;
}

function checkPrefill(turns: readonly Turn[], model: ModelFacts): string | undefined {
  if (model.prefill || turns.at(-1)?.role !== 'assistant') return undefined;
  return 'This model does not support assistant message prefill. The conversation must end with a user message.';
}
