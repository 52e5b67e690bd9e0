import { type Check, checkList, checkObject, checkText, isRecord } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { decodeDataUrl, measureImage } from '../../images/measure.ts';
import type { Form } from '../../multipart.ts';
import { jsonBody, refuse } from './errors.ts';
import { answerImages } from './image-answer.ts';
import { FORM_EDIT_FIELDS, JSON_EDIT_FIELDS, readImageRequest } from './image-request.ts';

const MOST_IMAGES = 16;
const LARGEST_IMAGE = 50_000_000;
const LARGEST_MASK = 4_000_000;
const IMAGE_FIELD = /^image(\[\d*\])?$/;
const INTEGERS = ['n', 'output_compression', 'partial_images'];

const SOURCE = checkObject({ image_url: checkText(20_971_520), file_id: checkText() });
const SOURCE_FIELDS: Record<string, Check> = { images: checkList(SOURCE, 1, MOST_IMAGES), mask: SOURCE };

/** `POST /v1/images/edits`, as a form (every official client) or as JSON. */
export function answerEdit(call: Call): Answer {
  const isForm = call.headers['content-type']?.startsWith('multipart/form-data');
  return isForm ? answerFormEdit(call) : answerJsonEdit(call);
}

function answerFormEdit(call: Call): Answer {
  if (call.body.kind !== 'form')
    return refuse(400, { message: 'Could not parse multipart form.', code: 'invalid_multipart' });
  const { form } = call.body;
  refuseFields(form);
  const fields = Object.entries(form.fields).map(([name, [text]]) => [name, coerce(name, text!)] as const);
  const body = Object.fromEntries(fields) as Record<string, unknown>;
  const request = readImageRequest(call, body, FORM_EDIT_FIELDS);
  const images = form.files.filter(({ field }) => IMAGE_FIELD.test(field));
  if (images.length === 0) refuseMissing('image');
  if (images.length > MOST_IMAGES)
    refuse(400, {
      message: `Too many images: at most ${MOST_IMAGES} are allowed.`,
      param: 'image',
      code: 'array_above_max_length',
    });
  for (const [index, { bytes }] of images.entries()) refuseBadImage(bytes, index + 1);
  return answerImages(request, { event: 'image_edit', inputImages: images.length }, call);
}

/** Duplicates are refused as OpenAI does: several images have to be sent as `image[]`. */
function refuseFields({ fields, files }: Form): void {
  const names = [
    ...Object.entries(fields).flatMap(([name, values]) => values.map(() => name)),
    ...files.map(({ field }) => field),
  ];
  const duplicate = names.find((name, index) => name !== 'image[]' && names.indexOf(name) !== index);
  if (duplicate !== undefined) {
    const message = `Duplicate parameter: '${duplicate}'. You provided multiple values for this parameter, whereas only one is allowed. If you are trying to provide a list of values, use the array syntax instead e.g. '${duplicate}[]=<value>'.`;
    refuse(400, { message, param: duplicate, code: 'duplicate_parameter' });
  }
  for (const { field, bytes } of files) {
    if (field === 'mask') refuseBadMask(bytes);
    else if (!IMAGE_FIELD.test(field))
      refuse(400, { message: `Unknown parameter: '${field}'.`, param: field, code: 'unknown_parameter' });
  }
}

function refuseBadMask(bytes: Buffer): void {
  if (measureImage(bytes)?.mime === 'image/png' && bytes.length <= LARGEST_MASK) return;
  refuse(400, { message: 'Invalid mask: expected a PNG of at most 4 MB.', param: 'mask', code: 'invalid_image_file' });
}

function refuseBadImage(bytes: Buffer, position: number): void {
  if (bytes.length > LARGEST_IMAGE)
    refuse(400, { message: 'Image too large: at most 50 MB.', param: 'image', code: 'image_too_large' });
  if (measureImage(bytes)) return;
  const message = `Invalid image file or mode for image ${position}, please check your image file.`;
  refuse(400, { message, param: 'image', code: 'invalid_image_file' });
}

/** Text of a form as the type the field has; what cannot be converted stays text, which the check refuses. */
function coerce(name: string, text: string): unknown {
  if (INTEGERS.includes(name) && /^-?\d+$/.test(text)) return Number(text);
  if (name === 'stream' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function answerJsonEdit(call: Call): Answer {
  const body = jsonBody(call);
  const request = readImageRequest(call, body, { ...JSON_EDIT_FIELDS, ...SOURCE_FIELDS }, ['prompt', 'images']);
  const sources = body.images as unknown[];
  for (const [index, source] of sources.entries()) refuseBadSource(source, index);
  return answerImages(request, { event: 'image_edit', inputImages: sources.length }, call);
}

function refuseBadSource(source: unknown, index: number): void {
  const { image_url: url, file_id: file } = isRecord(source) ? source : {};
  if ((url === undefined) === (file === undefined))
    refuse(400, {
      message: "Exactly one of 'image_url' and 'file_id' must be given.",
      param: `images[${index}]`,
      code: 'invalid_value',
    });
  if (typeof url !== 'string' || /^https?:\/\//.test(url)) return;
  const bytes = decodeDataUrl(url);
  if (bytes) refuseBadImage(bytes, index + 1);
  else
    refuse(400, {
      message: 'Invalid image URL: expected an http(s) or data URL.',
      param: `images[${index}].image_url`,
      code: 'invalid_value',
    });
}

function refuseMissing(param: string): never {
  return refuse(400, { message: `Missing required parameter: '${param}'.`, param, code: 'missing_required_parameter' });
}
