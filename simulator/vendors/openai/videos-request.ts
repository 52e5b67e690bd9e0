import { type Check, checkChoice, checkFields, checkObject, checkText, isRecord } from '../../checks.ts';
import type { Call } from '../../contract.ts';
import { decodeDataUrl, measureImage } from '../../images/measure.ts';
import type { Form } from '../../multipart.ts';
import { jsonBody, refuse, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const PROMPT_LIMIT = 32_000;
const LARGEST_REFERENCE = 50_000_000;
const STANDARD_MODEL = 'sora-2';
const SMALL_SIZES = ['720x1280', '1280x720'];
const SIZES: Record<string, readonly string[]> = {
  'sora-2': SMALL_SIZES,
  'sora-2-pro': [...SMALL_SIZES, '1024x1792', '1792x1024'],
};

const REFERENCE = checkObject({ image_url: checkText(), file_id: checkText() });
const FIELDS: Record<string, Check> = {
  prompt: checkText(PROMPT_LIMIT),
  model: checkText(),
  seconds: checkChoice('4', '8', '12'),
  input_reference: REFERENCE,
};

/** A checked request, defaults filled in. */
export interface VideoRequest {
  readonly prompt: string;
  readonly model: string;
  readonly seconds: string;
  readonly size: string;
}

/** Checks `POST /v1/videos`, JSON or a form, as OpenAI does, or refuses it. */
export function readVideoRequest(call: Call): VideoRequest {
  const isForm = call.headers['content-type']?.startsWith('multipart/form-data');
  const body = isForm ? formBody(call) : jsonBody(call);
  const model = call.model ?? STANDARD_MODEL;
  modelFor({ ...call, model }, 'video');
  const fields = { ...FIELDS, size: checkChoice(...SIZES[model]!) };
  refuseProblem(checkFields(body, fields, ['prompt'], '', call.fault.lenient));
  const size = (body.size as string | null | undefined) ?? SMALL_SIZES[0]!;
  const reference = call.body.kind === 'form' ? call.body.form.files[0]?.bytes : undefined;
  if (reference) refuseMisfit(reference, size);
  else refuseBadReference(body.input_reference, size);
  const seconds = (body.seconds as string | null | undefined) ?? '4';
  return { prompt: body.prompt as string, model, seconds, size };
}

/** Fields once each; `input_reference` is a file, or the JSON object's fields in brackets. */
function formBody(call: Call): Record<string, unknown> {
  if (call.body.kind !== 'form')
    return refuse(400, { message: 'Could not parse multipart form.', code: 'invalid_multipart' });
  const { fields, files } = call.body.form;
  refuseRepeated({ fields, files });
  const reference: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const [name, [text]] of Object.entries(fields)) {
    const inner = /^input_reference\[(\w+)\]$/.exec(name)?.[1];
    if (inner === undefined) body[name] = text;
    else reference[inner] = text!;
  }
  return Object.keys(reference).length > 0 ? { ...body, input_reference: reference } : body;
}

function refuseRepeated({ fields, files }: Form): void {
  const repeated = Object.keys(fields).find((name) => fields[name]!.length > 1) ?? files[1]?.field;
  if (repeated !== undefined)
    refuse(400, { message: `Duplicate parameter: '${repeated}'.`, param: repeated, code: 'duplicate_parameter' });
  const unknown = files.find(({ field }) => field !== 'input_reference')?.field;
  if (unknown !== undefined)
    refuse(400, { message: `Unknown parameter: '${unknown}'.`, param: unknown, code: 'unknown_parameter' });
}

function refuseBadReference(reference: unknown, size: string): void {
  if (!isRecord(reference)) return;
  const { image_url: url, file_id: file } = reference;
  if ((url == null) === (file == null))
    refuseReference("Exactly one of 'image_url' and 'file_id' must be given.", 'invalid_value');
  if (typeof url !== 'string' || /^https?:\/\//.test(url)) return;
  const bytes = decodeDataUrl(url);
  if (!bytes) return refuseReference('Invalid image URL: expected an http(s) or data URL.', 'invalid_value');
  refuseMisfit(bytes, size);
}

/** The reference is the first frame, so it must be an image of the video's own size. */
function refuseMisfit(bytes: Buffer, size: string): void {
  const facts = measureImage(bytes);
  if (bytes.length > LARGEST_REFERENCE) refuseReference('Image too large: at most 50 MB.', 'image_too_large');
  if (!facts) return refuseReference('Invalid image file: expected JPEG, PNG or WebP.', 'invalid_image_file');
  if (facts.width !== undefined && `${facts.width}x${facts.height}` !== size)
    refuseReference('Inpaint image must match the requested width and height.', null);
}

function refuseReference(message: string, code: string | null): never {
  return refuse(400, { message, param: 'input_reference', code });
}
