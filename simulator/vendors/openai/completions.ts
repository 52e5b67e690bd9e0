import { dataFrame, epochSeconds, jsonAnswer, nextId, streamAnswer } from '../../answers.ts';
import {
  type Check,
  checkByType,
  checkDecimal,
  checkFields,
  checkFlag,
  checkInteger,
  checkList,
  checkOpenObject,
  checkText,
} from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { composeReply, countTokens, type ReplyText } from '../../reply-text.ts';
import { readSteering } from '../../steering.ts';
import { DONE } from './chat-answer.ts';
import { onlyWhen, STOP, STREAM_OPTIONS } from './chat-request.ts';
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
  logit_bias: checkOpenObject,
  seed: checkInteger(-MOST, MOST),
  stream: checkFlag,
  stream_options: STREAM_OPTIONS,
  user: checkText(),
};

interface CompletionRequest {
  readonly prompt: string | (string | number | number[])[];
  readonly max_tokens?: number | null;
  readonly n?: number | null;
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
  if (body.stream_options && body.stream !== true) refuseProblem(onlyWhen('stream_options', "'stream' is enabled"));
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
    return { text: reply.text, index, logprobs: null, finish_reason: finishOf(reply) };
  });
  return jsonAnswer(200, { ...head, choices, ...(call.fault.nousage ? {} : { usage }) }, openaiHeaders());
}

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
  const frame = (text: string, index: number, finish: string | null) => {
    const choice = JSON.stringify({ text, index, logprobs: null, finish_reason: finish });
    return dataFrame(`${opening}${choice}]${withUsage ? ',"usage":null' : ''}}\n\n`);
  };
  const frames = replies.flatMap((reply, index) => [
    ...reply.pieces.map((piece) => frame(piece, index, null)),
    frame('', index, finishOf(reply)),
  ]);
  if (withUsage && !call.fault.nousage) frames.push(dataFrame(`${opening}],"usage":${JSON.stringify(usage)}}\n\n`));
  return streamAnswer([...frames, DONE], delay, openaiHeaders());
}

/** Token arrays, which nobody here can decode, become text of the same count of tokens. */
function promptsOf(prompt: CompletionRequest['prompt']): string[] {
  if (typeof prompt === 'string') return [prompt];
  if (typeof prompt[0] === 'number') return ['tok '.repeat(prompt.length)];
  return prompt.map((entry) => (Array.isArray(entry) ? 'tok '.repeat(entry.length) : String(entry)));
}

const finishOf = (reply: ReplyText): string => (reply.truncated ? 'length' : 'stop');
