import {
  type Check,
  checkByType,
  checkChoice,
  checkFields,
  checkInteger,
  checkList,
  checkObject,
  checkOpenObject,
  checkText,
  isRecord,
} from '../../checks.ts';
import type { Call } from '../../contract.ts';
import { decodeDataUrl, measureImage } from '../../images/measure.ts';
import { refuseArgument, refuseModel, refusePlain } from './errors.ts';
import { MODELS, type ModelFacts } from './models.ts';

export const RATIOS = [
  ...[
    '1:1',
    '3:4',
    '4:3',
    '9:16',
    '16:9',
    '2:3',
    '3:2',
    '9:19.5',
    '19.5:9',
    '9:20',
    '20:9',
    '1:2',
    '2:1',
    '21:9',
    '5:2',
  ],
];
const MOST_REFERENCES = 5;

const SOURCE = checkObject({ url: checkText(), type: checkChoice('image_url'), file_id: checkText() });

const FIELDS: Record<string, Check> = {
  model: checkText(),
  prompt: checkText(),
  n: checkInteger(1, 10),
  aspect_ratio: checkChoice(...RATIOS, 'auto'),
  resolution: checkChoice('1k', '1.5k', '2k'),
  response_format: checkChoice('url', 'b64_json'),
  quality: checkText(),
  user: checkText(),
  storage_options: checkOpenObject,
};
const EDIT_FIELDS = { ...FIELDS, image: SOURCE, images: checkByType({ array: checkList(SOURCE, 1, MOST_REFERENCES) }) };

export interface Source {
  readonly url?: string;
  readonly file_id?: string;
}

export interface ImageRequest {
  readonly prompt: string;
  readonly n?: number;
  readonly aspect_ratio?: string;
  readonly resolution?: string;
  readonly response_format?: 'url' | 'b64_json';
  readonly image?: Source;
  readonly images?: readonly Source[];
}

/** Checks a request as xAI does, or refuses it: JSON only, and none of `size`, `style`, `stream`, `mask`, … */
export function readImageRequest(call: Call): { request: ImageRequest; model: ModelFacts } {
  const body = jsonBody(call);
  const model = modelFor(call);
  if (typeof body.prompt !== 'string' || body.prompt.trim() === '') refusePlain('prompt must not be empty');
  const isEdit = call.path.endsWith('/edits');
  const fields = isEdit ? EDIT_FIELDS : FIELDS;
  const problem = checkFields(body, fields, [], '', call.fault.lenient);
  if (problem?.code === 'unknown_parameter') refuseArgument(400, `Argument not supported: ${problem.param}`);
  if (problem) refuseArgument(400, problem.message);
  if (typeof body.quality === 'string' && !model.qualities.includes(body.quality))
    refuseArgument(400, `Invalid value for quality: ${body.quality}. Allowed are ${model.qualities.join(', ')}.`);
  const request = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null),
  ) as unknown as ImageRequest;
  if (isEdit) refuseSources(request);
  return { request, model };
}

export function jsonBody(call: Call): Record<string, unknown> {
  if (!call.headers['content-type']?.startsWith('application/json'))
    return refuseArgument(415, 'Expected request with `Content-Type: application/json`');
  const { body } = call;
  if (body.kind === 'json' && isRecord(body.value)) return body.value;
  const reason = body.kind === 'broken' ? body.reason : 'expected an object';
  return refuseArgument(422, `Failed to parse the request body as JSON: ${reason}`);
}

function modelFor(call: Call): ModelFacts {
  if (call.model === undefined) return refuseArgument(400, 'Model must be specified.');
  return Object.hasOwn(MODELS, call.model) ? MODELS[call.model]! : refuseModel(call.model);
}

export const sourcesOf = ({ image, images = [] }: ImageRequest): readonly Source[] => (image ? [image] : images);

function refuseSources(request: ImageRequest): void {
  if ((request.image === undefined) === (request.images === undefined))
    refuseArgument(400, 'Exactly one of `image` and `images` must be given.');
  for (const { url, file_id: file } of sourcesOf(request)) {
    if ((url === undefined) === (file === undefined))
      refuseArgument(400, 'Exactly one of `url` and `file_id` must be given.');
    if (url === undefined || /^https?:\/\//.test(url)) continue;
    const bytes = decodeDataUrl(url);
    if (!bytes || !measureImage(bytes))
      refuseArgument(400, 'The image could not be decoded: expected JPEG, PNG or WebP.');
  }
}
