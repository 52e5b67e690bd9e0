import { jsonAnswer, nextId } from '../../answers.ts';
import { type Check, checkChoice, checkFields, checkInteger, checkList, checkText } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { countTokens } from '../../reply-text.ts';
import { embedText, encodeVector } from '../../vectors.ts';
import { cohereHeaders, jsonBody, refuse, refuseModel, refuseProblem } from './errors.ts';

const MODELS = ['embed-v4.0'];
const WIDTH = 1536;
const MOST_TEXTS = 96;
const DIMENSIONS = [256, 512, 1024, 1536];

const FIELDS: Record<string, Check> = {
  model: checkText(),
  input_type: checkChoice('search_document', 'search_query', 'classification', 'clustering'),
  texts: checkList(checkText(), 1, MOST_TEXTS),
  embedding_types: checkList(checkChoice('float', 'base64'), 1, 2),
  output_dimension: checkInteger(1, WIDTH),
  max_tokens: checkInteger(1, Number.MAX_SAFE_INTEGER),
  truncate: checkChoice('NONE', 'START', 'END'),
};

interface EmbedRequest {
  readonly texts: readonly string[];
  readonly embedding_types?: readonly ('float' | 'base64')[] | null;
  readonly output_dimension?: number | null;
}

/** `POST /v2/embed`, texts only. */
export function answerEmbed(call: Call): Answer {
  const body = jsonBody(call);
  refuseModel(call, MODELS);
  refuseProblem(checkFields(body, FIELDS, ['input_type', 'texts'], '', call.fault.lenient));
  const { texts, embedding_types: types, output_dimension: asked } = body as unknown as EmbedRequest;
  const dimensions = asked ?? WIDTH;
  if (!DIMENSIONS.includes(dimensions))
    refuse(400, `invalid request: output_dimension must be one of ${DIMENSIONS.join(', ')}`);
  const vectors = texts.map((text) => embedText(text, WIDTH, dimensions));
  const forms = (types ?? ['float']).map((type) => [type, type === 'float' ? vectors : vectors.map(encodeVector)]);
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const units = call.fault.nousage ? {} : { billed_units: { input_tokens: tokens } };
  const meta = { api_version: { version: '2' }, ...units };
  const answer = { id: nextId('embed-'), embeddings: Object.fromEntries(forms), texts, meta };
  return jsonAnswer(200, answer, cohereHeaders());
}
