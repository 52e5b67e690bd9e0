import { jsonAnswer } from '../../answers.ts';
import {
  type Check,
  checkByType,
  checkChoice,
  checkFields,
  checkInteger,
  checkList,
  checkText,
  type Problem,
} from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { countTokens } from '../../reply-text.ts';
import { embedText, encodeVector } from '../../vectors.ts';
import { jsonBody, openaiHeaders, refuse, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const MOST_INPUTS = 2048;
const MOST_TOKENS = 8192;
const MOST_TOKENS_TOGETHER = 300_000;
const WIDTHS: Record<string, number> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
};

const TOKEN = checkInteger(0, 200_000);
const TOKENS = checkList(TOKEN, 1, Number.MAX_SAFE_INTEGER);
const FIELDS: Record<string, Check> = {
  model: checkText(),
  input: checkByType({ string: checkText(), array: checkInputs }),
  encoding_format: checkChoice('float', 'base64'),
  dimensions: checkInteger(1, 3072),
  user: checkText(),
};

interface EmbeddingRequest {
  readonly input: string | readonly (string | number | readonly number[])[];
  readonly encoding_format?: 'float' | 'base64' | null;
  readonly dimensions?: number | null;
}

interface Input {
  readonly text: string;
  readonly tokens: number;
}

/** `POST /v1/embeddings`: vectors that depend on the text alone. */
export function answerEmbeddings(call: Call): Answer {
  const body = jsonBody(call);
  const model = modelFor(call, 'embedding');
  refuseProblem(checkFields(body, FIELDS, ['input'], '', call.fault.lenient));
  const request = body as unknown as EmbeddingRequest;
  const width = WIDTHS[call.model!]!;
  const { dimensions } = request;
  if (typeof dimensions === 'number') refuseProblem(checkDimensions(dimensions, width, call.model!));
  const inputs = inputsOf(request.input);
  refuseLong(inputs);
  const encode = request.encoding_format === 'base64' ? encodeVector : (vector: readonly number[]) => vector;
  const data = inputs.map(({ text }, index) => {
    return { object: 'embedding', index, embedding: encode(embedText(text, width, dimensions ?? width)) };
  });
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  const usage = call.fault.nousage ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return jsonAnswer(200, { object: 'list', data, model: model.dated, ...usage }, openaiHeaders());
}

/** One list of tokens, a list of such lists, or a list of texts; the two kinds do not mix. */
function checkInputs(value: unknown, path: string): Problem | undefined {
  const [first] = value as unknown[];
  if (typeof first === 'number') return TOKENS(value, path);
  return checkList(Array.isArray(first) ? TOKENS : checkText(), 1, MOST_INPUTS)(value, path);
}

function checkDimensions(dimensions: number, width: number, model: string): Problem | undefined {
  if (model === 'text-embedding-ada-002')
    return { param: 'dimensions', code: null, message: 'This model does not support specifying dimensions.' };
  if (dimensions <= width) return undefined;
  const message = `Invalid value for 'dimensions' = ${dimensions}. Must be less than or equal to ${width}.`;
  return { param: 'dimensions', code: null, message };
}

function inputsOf(input: EmbeddingRequest['input']): Input[] {
  if (typeof input === 'string') return [fromText(input)];
  if (typeof input[0] === 'number') return [fromTokens(input as readonly number[])];
  return input.map((entry) => (typeof entry === 'string' ? fromText(entry) : fromTokens(entry as readonly number[])));
}

const fromText = (text: string): Input => ({ text, tokens: countTokens(text) });
const fromTokens = (tokens: readonly number[]): Input => ({ text: tokens.join(' '), tokens: tokens.length });

function refuseLong(inputs: readonly Input[]): void {
  if (inputs.some(({ text }) => text === ''))
    refuse(400, { message: "'$.input' is invalid. Please check the API reference.", param: 'input' });
  const long = inputs.find(({ tokens }) => tokens > MOST_TOKENS);
  if (long) {
    const message = `This model's maximum context length is ${MOST_TOKENS} tokens, however you requested ${long.tokens} tokens (${long.tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`;
    refuse(400, { message, param: 'input' });
  }
  const together = inputs.reduce((sum, { tokens }) => sum + tokens, 0);
  if (together > MOST_TOKENS_TOGETHER)
    refuse(400, {
      message: `Requested ${together} tokens, max ${MOST_TOKENS_TOGETHER} tokens per request`,
      type: 'max_tokens_per_request',
      code: 'max_tokens_per_request',
    });
}
