import {
  type Check,
  checkChoice,
  checkDecimal,
  checkFields,
  checkFlag,
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
import { jsonBody } from './request.ts';
import { VIDEO_MODELS } from './videos-models.ts';

const LONGEST = 15;
const MOST_REFERENCES = 7;
const STANDARD_SECONDS = 8;
const MODE_FIELDS = ['image', 'last_frame', 'keyframes'];

const checkSource: Check = (value, path) => {
  const problem = checkObject({ url: checkText() }, ['url'])(value, path);
  if (problem) return problem;
  const { url } = value as { url: string };
  if (/^https?:\/\//.test(url)) return undefined;
  const bytes = decodeDataUrl(url);
  if (bytes && measureImage(bytes)) return undefined;
  return { param: path, code: null, message: 'The image could not be decoded: expected JPEG, PNG or WebP.' };
};

const FIELDS: Record<string, Check> = {
  model: checkText(),
  prompt: checkText(),
  duration: checkInteger(1, LONGEST),
  aspect_ratio: checkChoice('1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'),
  resolution: checkText(),
  image: checkSource,
  reference_images: checkList(checkSource, 1, MOST_REFERENCES),
  reference_audios: checkList(checkObject({ url: checkText() }, ['url']), 1, 3),
  generate_audio: checkFlag,
  user: checkText(),
  storage_options: checkOpenObject,
};
const KEYFRAME = checkObject({ image: checkSource, timestamp_s: checkDecimal(0, LONGEST) }, ['image', 'timestamp_s']);
const FRAME_FIELDS = { last_frame: checkSource, keyframes: checkList(KEYFRAME, 1, 16) };

/** A checked request, defaults filled in. */
export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  readonly duration: number;
  readonly aspectRatio: string;
  readonly resolution: string;
}

/** Checks `POST /v1/videos/generations` as xAI does, or refuses it. */
export function readVideoRequest(call: Call): VideoRequest {
  const body = jsonBody(call);
  if (call.model === undefined) return refuseArgument(400, 'Model must be specified.');
  const model = Object.hasOwn(VIDEO_MODELS, call.model) ? VIDEO_MODELS[call.model]! : refuseModel(call.model);
  if (typeof body.prompt !== 'string' || body.prompt.trim() === '') return refusePlain('prompt must not be empty');
  const fields = model.frames ? { ...FIELDS, ...FRAME_FIELDS } : FIELDS;
  const problem = checkFields(body, fields, [], '', call.fault.lenient);
  if (problem?.code === 'unknown_parameter') refuseArgument(400, `Argument not supported: ${problem.param}`);
  if (problem) refuseArgument(400, problem.message);
  const resolution = (body.resolution as string | null | undefined) ?? '480p';
  if (!model.resolutions.includes(resolution))
    refuseArgument(400, `Invalid value for resolution: ${resolution}. Allowed are ${model.resolutions.join(', ')}.`);
  refuseMode(body, resolution);
  return {
    model: call.model,
    prompt: body.prompt,
    duration: (body.duration as number | null | undefined) ?? STANDARD_SECONDS,
    aspectRatio: (body.aspect_ratio as string | null | undefined) ?? ownRatio(body.image) ?? '16:9',
    resolution,
  };
}

/** References exclude frames, and large pictures. */
function refuseMode(body: Record<string, unknown>, resolution: string): void {
  if (body.reference_images == null && body.reference_audios == null) return;
  const frame = MODE_FIELDS.find((name) => body[name] != null);
  if (frame !== undefined) refuseArgument(400, `\`${frame}\` cannot be combined with references.`);
  if (resolution === '1080p') refuseArgument(400, 'Reference to video supports a resolution of at most 720p.');
}

function ownRatio(image: unknown): string | undefined {
  const bytes = isRecord(image) && typeof image.url === 'string' ? decodeDataUrl(image.url) : undefined;
  const measured = bytes && measureImage(bytes);
  return measured?.width && measured.height ? `${measured.width}:${measured.height}` : undefined;
}
