import { dataFrame, jsonAnswer, streamAnswer } from '../../answers.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import type { ChatOutcome, ToolCall } from './chat-outcome.ts';
import type { ChatRequest } from './chat-request.ts';
import { openaiHeaders } from './errors.ts';

const FINGERPRINT = 'fp_simulator';
const PADDING = 'aZ3kQ9xW7mB1vT5c';
const ARGUMENT_PIECE = 8;

export const DONE: Frame = { kind: 'done', bytes: 'data: [DONE]\n\n' };

export function wholeChat(outcome: ChatOutcome, call: Call): Answer {
  const message = {
    role: 'assistant',
    content: outcome.calls.length > 0 ? null : outcome.reply.text,
    refusal: null,
    annotations: [],
    ...callsOf(outcome),
  };
  const logprobs = outcome.logprobs ? { content: outcome.reply.pieces.map(logprobOf), refusal: null } : null;
  const choices = Array.from({ length: outcome.copies }, (_, index) => {
    return { index, message, logprobs, finish_reason: outcome.finish };
  });
  const { id, created, model, serviceTier } = outcome;
  const head = { id, object: 'chat.completion', created, model, choices };
  const tail = { service_tier: serviceTier, system_fingerprint: FINGERPRINT };
  return jsonAnswer(
    200,
    { ...head, ...(call.fault.nousage ? {} : { usage: outcome.usage }), ...tail },
    openaiHeaders(),
  );
}

/** Chunks are put together from text: only the delta is serialized for each. */
export function streamChat(outcome: ChatOutcome, request: ChatRequest, call: Call): Answer {
  const withUsage = request.stream_options?.include_usage === true;
  const padded = request.stream_options?.include_obfuscation !== false;
  const { id, created, model, serviceTier } = outcome;
  const named = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, service_tier: serviceTier });
  const head = `data: ${named.slice(0, -1)},"system_fingerprint":"${FINGERPRINT}","choices":[`;
  const usageField = withUsage ? ',"usage":null' : '';
  const frames: Frame[] = [];
  const push = (index: number, delta: string, finish = 'null', logprobs = 'null'): void => {
    const choice = `{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}}`;
    const padding = padded ? `,"obfuscation":"${PADDING.slice(delta.length % PADDING.length)}"` : '';
    frames.push(dataFrame(`${head}${choice}]${usageField}${padding}}\n\n`));
  };
  const copies = Array.from({ length: outcome.copies }, (_, index) => index);
  const pushAll = (delta: string, finish?: string, logprobs?: string): void => {
    for (const index of copies) push(index, delta, finish, logprobs);
  };

  if (outcome.calls.length > 0) for (const delta of deltasOf(outcome)) pushAll(delta);
  else {
    pushAll('{"role":"assistant","content":"","refusal":null}');
    for (const piece of outcome.reply.pieces) {
      const logprobs = outcome.logprobs ? JSON.stringify({ content: [logprobOf(piece)], refusal: null }) : undefined;
      pushAll(`{"content":${JSON.stringify(piece)}}`, undefined, logprobs);
    }
  }
  pushAll('{}', `"${outcome.finish}"`);
  if (withUsage && !call.fault.nousage)
    frames.push(dataFrame(`${head}],"usage":${JSON.stringify(outcome.usage)}}\n\n`));
  frames.push(DONE);
  return streamAnswer(frames, outcome.steering.delay, openaiHeaders());
}

function callsOf({ calls, legacy }: ChatOutcome): object {
  const [first] = calls;
  if (!first) return {};
  return legacy
    ? { function_call: { name: first.name, arguments: first.input } }
    : { tool_calls: calls.map(wholeCall) };
}

function wholeCall({ id, type, name, input }: ToolCall): unknown {
  return type === 'custom' ? { id, type, custom: { name, input } } : { id, type, function: { name, arguments: input } };
}

function deltasOf({ calls, legacy }: ChatOutcome): string[] {
  return legacy ? functionDeltas(calls[0]!) : calls.flatMap(callDeltas);
}

function functionDeltas({ name, input }: ToolCall): string[] {
  const opening = { role: 'assistant', content: null, function_call: { name, arguments: '' } };
  const rest = piecesOf(input).map((piece) => ({ function_call: { arguments: piece } }));
  return [opening, ...rest].map((delta) => JSON.stringify(delta));
}

function piecesOf(input: string): string[] {
  const characters = Array.from(input);
  const starts = Array.from({ length: Math.ceil(characters.length / ARGUMENT_PIECE) }, (_, at) => at * ARGUMENT_PIECE);
  return starts.map((start) => characters.slice(start, start + ARGUMENT_PIECE).join(''));
}

/** The first fragment names the call, the others carry its arguments in pieces; all are keyed by index. */
function callDeltas({ id, type, name, input }: ToolCall, index: number): string[] {
  const key = type === 'custom' ? 'input' : 'arguments';
  const opening = { index, id, type, [type]: { name, [key]: '' } };
  const role = index === 0 ? { role: 'assistant', content: null } : {};
  const rest = piecesOf(input).map((piece) => JSON.stringify({ tool_calls: [{ index, [type]: { [key]: piece } }] }));
  return [JSON.stringify({ ...role, tool_calls: [opening] }), ...rest];
}

export function logprobOf(token: string): unknown {
  return { token, logprob: -0.25, bytes: [...Buffer.from(token)], top_logprobs: [] };
}
