import { dataFrame, epochSeconds, jsonAnswer, nextId, streamAnswer } from '../../answers.ts';
import {
  type Check,
  checkByType,
  checkDecimal,
  checkFields,
  checkFlag,
  checkInteger,
  checkList,
  checkText,
  type Problem,
} from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { composeReply, countTokens, type ReplyText } from '../../reply-text.ts';
import { readSteering } from '../../steering.ts';
import { DONE } from './chat-answer.ts';
import { onlyWhen, STOP, STREAM_OPTIONS } from './chat-request.ts';
import { checkBias } from './entries.ts';
import { jsonBody, openaiHeaders, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const STANDARD_MAX_TOKENS = 16;
const MOST = Number.MAX_SAFE_INTEGER;
const TOKEN = checkInteger(0, MOST);

const FIELDS: Record<string, Check> = {
  model: checkText(),
  prompt: checkByType({
    string: checkText(),
    array: checkList(checkByType({ string: checkText(), number: TOKEN, array: checkList(TOKEN, 1, MOST) }), 1, 2048),
  }),
  suffix: checkText(),
  max_tokens: checkInteger(0, MOST),
  temperature: checkDecimal(0, 2),
  top_p: checkDecimal(0, 1),
  n: checkInteger(1, 128),
  best_of: checkInteger(0, 20),
  echo: checkFlag,
  stop: STOP,
  logprobs: checkInteger(0, 5),
  frequency_penalty: checkDecimal(-2, 2),
  presence_penalty: checkDecimal(-2, 2),
  logit_bias: checkBias,
  seed: checkInteger(-MOST, MOST),
  stream: checkFlag,
  stream_options: STREAM_OPTIONS,
  user: checkText(),
};

interface CompletionRequest {
  readonly prompt: string | (string | number | number[])[];
  readonly max_tokens?: number | null;
  readonly n?: number | null;
  readonly logprobs?: number | null;
  readonly echo?: boolean | null;
  readonly stop?: string | string[] | null;
  readonly stream?: boolean | null;
  readonly stream_options?: { include_usage?: boolean } | null;
}

/** `POST /v1/completions`, the legacy protocol: one choice per prompt and copy, index = prompt × n + copy. */
export function answerCompletion(call: Call): Answer {
  const body = jsonBody(call);
  const model = modelFor(call, 'completion');
  refuseProblem(checkFields(body, FIELDS, ['prompt'], '', call.fault.lenient));
  refuseProblem(checkCombination(body));
  const request = body as unknown as CompletionRequest;
  const prompts = promptsOf(request.prompt);
  const steering = readSteering(prompts[0]!);
  const stops = request.stop ? [request.stop].flat() : [];
  const replies = prompts.flatMap((prompt) => {
    const reply = composeReply(prompt, steering, request.max_tokens ?? steering.tokens ?? STANDARD_MAX_TOKENS, stops);
    const echoed = request.echo ? { ...reply, text: prompt + reply.text, pieces: [prompt, ...reply.pieces] } : reply;
    return new Array<ReplyText>(request.n ?? 1).fill(echoed);
  });
  const input = prompts.reduce((sum, prompt) => sum + countTokens(prompt), 0);
  const output = replies.reduce((sum, reply) => sum + reply.tokens, 0);
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const head = { id: nextId('cmpl-'), object: 'text_completion', created: epochSeconds(), model: model.dated };
  if (request.stream) return streamCompletion(head, replies, usage, request, call, steering.delay);
  const choices = replies.map((reply, index) => {
    return { text: reply.text, index, logprobs: logprobsOf(reply.pieces, request), finish_reason: finishOf(reply) };
  });
  return jsonAnswer(200, { ...head, choices, ...(call.fault.nousage ? {} : { usage }) }, openaiHeaders());
}

function checkCombination({ stream, stream_options, n, best_of }: Record<string, unknown>): Problem | undefined {
  if (stream_options && stream !== true) return onlyWhen('stream_options', "'stream' is enabled");
  if (best_of == null) return undefined;
  if (stream === true && best_of !== 1) return wrongBest('Cannot stream results with best_of > 1.');
  const copies = (n as number | null | undefined) ?? 1;
  return (best_of as number) < copies ? wrongBest('best_of must be greater than or equal to n.') : undefined;
}

const wrongBest = (message: string): Problem => ({ param: 'best_of', code: null, message });

function streamCompletion(
  head: object,
  replies: readonly ReplyText[],
  usage: unknown,
  request: CompletionRequest,
  call: Call,
  delay: number,
): Answer {
  const withUsage = request.stream_options?.include_usage === true;
  const opening = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
  const frame = (text: string, index: number, finish: string | null, offset = 0) => {
    const logprobs = text === '' ? null : logprobsOf([text], request, offset);
    const choice = JSON.stringify({ text, index, logprobs, finish_reason: finish });
    return dataFrame(`${opening}${choice}]${withUsage ? ',"usage":null' : ''}}\n\n`);
  };
  const frames = replies.flatMap((reply, index) => {
    let offset = 0;
    const texts = reply.pieces.map((piece) => {
      offset += piece.length;
      return frame(piece, index, null, offset - piece.length);
    });
    return [...texts, frame('', index, finishOf(reply))];
  });
  if (withUsage && !call.fault.nousage) frames.push(dataFrame(`${opening}],"usage":${JSON.stringify(usage)}}\n\n`));
  return streamAnswer([...frames, DONE], delay, openaiHeaders());
}

/** Each piece counts as one token; the likeliest ones are itself and as many more as were asked for. */
function logprobsOf(pieces: readonly string[], { logprobs }: CompletionRequest, start = 0): object | null {
  if (logprobs == null) return null;
  let offset = start;
  const text_offset = pieces.map((piece) => {
    offset += piece.length;
    return offset - piece.length;
  });
  const others = Array.from({ length: Math.max(0, logprobs - 1) }, (_, index) => [` ${index}`, -4 - index]);
  return {
    tokens: pieces,
    token_logprobs: pieces.map(() => -0.25),
    top_logprobs: pieces.map((piece) => Object.fromEntries([[piece, -0.25], ...others])),
    text_offset,
  };
}

/** Token arrays, which nobody here can decode, become text of the same count of tokens. */
function promptsOf(prompt: CompletionRequest['prompt']): string[] {
  if (typeof prompt === 'string') return [prompt];
  if (typeof prompt[0] === 'number') return ['tok '.repeat(prompt.length)];
  return prompt.map((entry) => (Array.isArray(entry) ? 'tok '.repeat(entry.length) : String(entry)));
}

const finishOf = (reply: ReplyText): string => (reply.truncated ? 'length' : 'stop');
