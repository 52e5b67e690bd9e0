import { jsonAnswer, nextId } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { composeReply, countTokens, piecesOf, type ReplyText } from '../../reply-text.ts';
import { sampleValue } from '../../sample.ts';
import { seal } from '../../signatures.ts';
import { readSteering, type Steering, withoutSteering } from '../../steering.ts';
import { streamMessage, wholeMessage } from './answer.ts';
import { anthropicHeaders } from './errors.ts';
import { inputUsage, promptTokens } from './measure.ts';
import type { Ending, Outcome, OutputBlock } from './outcome.ts';
import { type CheckedRequest, type MessagesRequest, readMessagesRequest } from './request.ts';
import { lastUserText, roundsSoFar } from './turns.ts';

const THOUGHT_PIECES = 3;
/** What thinking costs where it is enabled and the prompt does not steer it. */
const STANDARD_THOUGHTS = 12;
const CHARACTERS_PER_TOKEN = 4;

/** `POST /v1/messages`: echoes the last text of the user, or calls the tools it was given. */
export function answerMessages(call: Call): Answer {
  const checked = readMessagesRequest(call, false);
  const outcome = outcomeOf(checked);
  return checked.request.stream ? streamMessage(outcome, call) : wholeMessage(outcome, call);
}

/** `POST /v1/messages/count_tokens`: what `usage` would say of the prompt. */
export function answerCount(call: Call): Answer {
  const { request } = readMessagesRequest(call, true);
  return jsonAnswer(200, { input_tokens: promptTokens(request) }, anthropicHeaders());
}

function outcomeOf({ request, turns, model }: CheckedRequest): Outcome {
  const prompt = lastUserText(turns);
  const steering = readSteering(prompt);
  const limit = request.max_tokens!;
  const rounds = roundsSoFar(turns);
  const thinkingTokens = Math.min(thoughtTokens(request, steering, rounds), limit);
  const thoughts = thinkingTokens > 0 ? thoughtBlocks(request, prompt, steering) : [];
  const spoken = speak(request, prompt, steering, rounds, limit - thinkingTokens);
  return {
    model: model.dated,
    blocks: [...thoughts, ...spoken.blocks],
    ending: spoken.ending,
    input: inputUsage(request, steering.cached),
    outputTokens: thinkingTokens + spoken.tokens,
    thinkingTokens,
    delay: steering.delay,
  };
}

/** Enabled thinking always thinks, within its budget; the other kinds only where the prompt steers them to. */
function thoughtTokens({ thinking, output_config }: MessagesRequest, steering: Steering, rounds: number): number {
  if (thinking?.type === 'disabled') return 0;
  if (thinking?.type === 'between_tools') return rounds > 0 ? steering.reasoning : 0;
  if (thinking?.type === 'enabled') return Math.min(steering.reasoning || STANDARD_THOUGHTS, thinking.budget_tokens!);
  return thinking || output_config?.effort ? steering.reasoning : 0;
}

function thoughtBlocks({ thinking }: MessagesRequest, prompt: string, steering: Steering): OutputBlock[] {
  const thought = `The user said “${withoutSteering(prompt).slice(0, 80).trim()}” – 考え中 🤔`;
  const shown = thinking?.display === 'omitted' ? '' : thought;
  const { pieces } = piecesOf(shown, THOUGHT_PIECES);
  const redacted = Array.from({ length: steering.redacted }, (_, index): OutputBlock => {
    return { type: 'redacted_thinking', data: seal(`${index}\n${thought}`) };
  });
  return [{ type: 'thinking', text: shown, pieces, signature: seal(`thinking\n${shown}`) }, ...redacted];
}

interface Spoken {
  readonly blocks: OutputBlock[];
  readonly tokens: number;
  readonly ending: Ending;
}

const endWith = (reason: Ending['reason'], sequence: string | null = null): Ending => {
  return { reason, sequence, details: null };
};

function speak(request: MessagesRequest, prompt: string, steering: Steering, rounds: number, limit: number): Spoken {
  const calls = toolCalls(request, steering, rounds);
  if (calls.length === 0) return sayText(request, prompt, steering, limit);
  const remark = steering.tokens === undefined ? piecesOf('', 1) : composeReply(prompt, steering, limit);
  const called = calls.reduce((sum, { name, input }) => sum + countTokens(name + JSON.stringify(input)), 0);
  const blocks = textBlocks(remark);
  if (remark.tokens + called > limit) return { blocks, tokens: limit, ending: endWith('max_tokens') };
  return { blocks: [...blocks, ...calls], tokens: remark.tokens + called, ending: endWith('tool_use') };
}

type ToolUse = OutputBlock & { type: 'tool_use' };

/** Of several tools each round calls the next; the vendor's own tools are never called. */
function toolCalls(
  { tools = [], tool_choice: wanted }: MessagesRequest,
  steering: Steering,
  rounds: number,
): ToolUse[] {
  const callable = tools.filter((tool) => tool.input_schema);
  const tool = callable.find(({ name }) => name === wanted?.name) ?? callable[rounds % callable.length];
  if (!tool || wanted?.type === 'none' || rounds >= steering.rounds) return [];
  const count = wanted?.disable_parallel_tool_use ? Math.min(1, steering.calls) : steering.calls;
  const input = sampleValue(tool.input_schema);
  return Array.from({ length: count }, () => ({ type: 'tool_use', id: nextId('toolu_'), name: tool.name, input }));
}

function sayText(request: MessagesRequest, prompt: string, steering: Steering, limit: number): Spoken {
  const stops = request.stop_sequences ?? [];
  const format = request.output_config?.format;
  if (format) {
    const json = JSON.stringify(sampleValue(format.schema));
    const text = Array.from(json)
      .slice(0, limit * CHARACTERS_PER_TOKEN)
      .join('');
    return said(piecesOf(text, steering.chunks), text.length < json.length ? endWith('max_tokens') : undefined);
  }
  const reply = composeReply(prompt, steering, limit, stops);
  const met = stopMet(composeReply(prompt, steering, limit).text, stops);
  if (met !== undefined) return said(reply, endWith('stop_sequence', met));
  return said(reply, reply.truncated ? endWith('max_tokens') : undefined);
}

function said(reply: ReplyText, ending = endWith('end_turn')): Spoken {
  return { blocks: textBlocks(reply), tokens: reply.tokens, ending };
}

const textBlocks = ({ text, pieces }: ReplyText): OutputBlock[] =>
  text === '' ? [] : [{ type: 'text', text, pieces }];

/** The stop sequence that comes first in a text. */
function stopMet(text: string, stops: readonly string[]): string | undefined {
  const found = stops.map((stop) => ({ stop, at: text.indexOf(stop) })).filter(({ at }) => at >= 0);
  return found.toSorted((left, right) => left.at - right.at)[0]?.stop;
}
