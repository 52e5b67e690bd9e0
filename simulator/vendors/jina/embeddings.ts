import { jsonAnswer } from '../../answers.ts';
import {
  type Check,
  checkByType,
  checkChoice,
  checkFields,
  checkFlag,
  checkInteger,
  checkList,
  checkText,
} from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { countTokens } from '../../reply-text.ts';
import { embedText, encodeVector } from '../../vectors.ts';
import { jsonBody, refuse, refuseModel } from './errors.ts';
import { CHECK_TEXT, type Text, textOf } from './texts.ts';

const MODELS = ['jina-embeddings-v3'];
const WIDTH = 1024;
const MOST_INPUTS = 2048;

const FIELDS: Record<string, Check> = {
  model: checkText(),
  input: checkByType({ string: checkText(), array: checkList(CHECK_TEXT, 1, MOST_INPUTS) }),
  task: checkChoice('retrieval.query', 'retrieval.passage', 'text-matching', 'classification', 'separation'),
  dimensions: checkInteger(1, WIDTH),
  embedding_type: checkChoice('float', 'base64'),
  encoding_format: checkChoice('float', 'base64'),
  normalized: checkFlag,
  late_chunking: checkFlag,
  truncate: checkFlag,
  user: checkText(),
};

interface EmbeddingRequest {
  readonly input: string | readonly Text[];
  readonly dimensions?: number | null;
  readonly embedding_type?: string | null;
  readonly encoding_format?: string | null;
}

/** `POST /v1/embeddings`: OpenAI's form, with `embedding_type` beside `encoding_format`; no token arrays. */
export function answerEmbeddings(call: Call): Answer {
  const body = jsonBody(call);
  refuseModel(call, MODELS);
  const problem = checkFields(body, FIELDS, ['input'], '', call.fault.lenient);
  if (problem) refuse(422, problem.message);
  const request = body as unknown as EmbeddingRequest;
  const texts = typeof request.input === 'string' ? [request.input] : request.input.map(textOf);
  if (texts.includes('')) refuse(422, 'Input must not be empty.');
  const base64 = (request.embedding_type ?? request.encoding_format) === 'base64';
  const data = texts.map((text, index) => {
    const vector = embedText(text, WIDTH, request.dimensions ?? WIDTH);
    return { object: 'embedding', index, embedding: base64 ? encodeVector(vector) : vector };
  });
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const usage = call.fault.nousage ? {} : { usage: { total_tokens: tokens, prompt_tokens: tokens } };
  return jsonAnswer(200, { model: call.model, object: 'list', ...usage, data });
}
