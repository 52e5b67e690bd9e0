import { jsonAnswer, nextId } from '../../answers.ts';
import {
  type Check,
  checkAnything,
  checkByType,
  checkFields,
  checkList,
  checkObject,
  checkText,
  isRecord,
  wrongValue,
} from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { jsonBody, openaiHeaders, refuse, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const STANDARD_MODEL = 'omni-moderation-latest';
const FLAGGED = /violence/i;
const TEXT_CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'sexual/minors',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
];
const IMAGE_CATEGORIES = [
  'self-harm/intent',
  'self-harm/instructions',
  'self-harm',
  'sexual',
  'violence',
  'violence/graphic',
];
const CATEGORIES = [...TEXT_CATEGORIES, ...IMAGE_CATEGORIES];

const TEXT_PART = checkObject({ type: checkAnything, text: checkText() }, ['text']);
const IMAGE_PART = checkObject({ type: checkAnything, image_url: checkObject({ url: checkText() }, ['url']) }, [
  'image_url',
]);
const checkPart: Check = (value, path) => {
  const type = isRecord(value) ? value.type : undefined;
  if (type === 'text') return TEXT_PART(value, path);
  return type === 'image_url'
    ? IMAGE_PART(value, path)
    : wrongValue(`${path}.type`, String(type), ['text', 'image_url']);
};
const FIELDS: Record<string, Check> = {
  model: checkText(),
  input: checkByType({
    string: checkText(),
    array: (value, path) => {
      const parts = isRecord((value as unknown[])[0]);
      return checkList(parts ? checkPart : checkText(), 1, Number.MAX_SAFE_INTEGER)(value, path);
    },
  }),
};

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { url: string } };

/** `POST /v1/moderations`: flags what contains the word "violence", in a text or in an image's address. */
export function answerModerations(call: Call): Answer {
  const body = jsonBody(call);
  const model = modelFor({ ...call, model: call.model ?? STANDARD_MODEL }, 'moderation');
  refuseProblem(checkFields(body, FIELDS, ['input'], '', call.fault.lenient));
  const results = partsByResult(body.input as string | readonly (string | Part)[]).map(judge);
  return jsonAnswer(200, { id: nextId('modr-'), model: model.dated, results }, openaiHeaders());
}

/** One result for each text; the parts of a multimodal input make one together. */
function partsByResult(input: string | readonly (string | Part)[]): Part[][] {
  if (typeof input === 'string') return [[{ type: 'text', text: input }]];
  if (typeof input[0] !== 'string') return [input as Part[]];
  return (input as readonly string[]).map((text) => [{ type: 'text', text }]);
}

function judge(parts: readonly Part[]): unknown {
  for (const part of parts)
    if (part.type === 'image_url' && !/^(https?:\/\/|data:image\/)/.test(part.image_url.url))
      refuse(400, { message: 'Invalid image URL.', param: 'input', code: 'invalid_image_url' });
  const flagged = parts.some((part) => FLAGGED.test(part.type === 'text' ? part.text : part.image_url.url));
  const kinds = ['text', 'image'].filter((kind) => parts.some(({ type }) => type.startsWith(kind)));
  const byCategory = (value: (category: string) => unknown): unknown =>
    Object.fromEntries(CATEGORIES.map((category) => [category, value(category)]));
  return {
    flagged,
    categories: byCategory((category) => flagged && category === 'violence'),
    category_scores: byCategory((category) => (flagged && category === 'violence' ? 0.93 : 0.0001)),
    category_applied_input_types: byCategory((category) =>
      TEXT_CATEGORIES.includes(category) ? kinds.filter((kind) => kind === 'text') : kinds,
    ),
  };
}
