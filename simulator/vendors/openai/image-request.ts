import {
  type Check,
  checkChoice,
  checkFields,
  checkFlag,
  checkInteger,
  checkText,
  type Problem,
  wrongValue,
} from '../../checks.ts';
import type { Call } from '../../contract.ts';
import type { PictureFormat } from '../../images/pictures.ts';
import { refuse, refuseProblem } from './errors.ts';
import { modelFor } from './models.ts';

const PROMPT_LIMIT = 32_000;
const FIXED_SIZES = ['1024x1024', '1024x1536', '1536x1024', 'auto'];
const SIDE_STEP = 16;
const LONGEST_SIDE = 3840;
const LARGEST_RATIO = 3;
const FEWEST_PIXELS = 655_360;
const MOST_PIXELS = 8_294_400;

interface ImageModel {
  readonly anySize: boolean;
  readonly qualities: readonly string[];
  /** What `input_fidelity` may be; nothing where the model refuses the field. */
  readonly fidelities: readonly string[];
}

const QUALITIES = ['auto', 'low', 'medium', 'high'];
const IMAGE_MODELS: Record<string, ImageModel> = {
  'gpt-image-1-mini': { anySize: false, qualities: QUALITIES, fidelities: ['low'] },
  'gpt-image-1.5': { anySize: false, qualities: QUALITIES, fidelities: ['low', 'high'] },
  'gpt-image-2': { anySize: true, qualities: QUALITIES, fidelities: [] },
  'gpt-image-2.6-flare': { anySize: true, qualities: [...QUALITIES, 'xhigh', 'max'], fidelities: [] },
};

const FIELDS: Record<string, Check> = {
  model: checkText(),
  prompt: checkText(PROMPT_LIMIT),
  n: checkInteger(1, 10),
  size: checkText(),
  quality: checkText(),
  background: checkChoice('auto', 'opaque', 'transparent'),
  output_format: checkChoice('png', 'jpeg', 'webp'),
  output_compression: checkInteger(0, 100),
  stream: checkFlag,
  partial_images: checkInteger(0, 3),
  user: checkText(),
  safety_identifier: checkText(64),
  complexity: checkChoice('low', 'medium', 'high'),
};
const MODERATION = { moderation: checkChoice('auto', 'low') };

/** `response_format` and `style` are not among them: GPT image models refuse both. */
export const GENERATION_FIELDS: Record<string, Check> = { ...FIELDS, ...MODERATION };
export const FORM_EDIT_FIELDS: Record<string, Check> = { ...FIELDS, input_fidelity: checkChoice('low', 'high') };
export const JSON_EDIT_FIELDS: Record<string, Check> = { ...FORM_EDIT_FIELDS, ...MODERATION };

/** A checked image request; null has become absent. */
export interface ImageRequest {
  readonly prompt: string;
  readonly n?: number;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly output_format?: PictureFormat;
  readonly stream?: boolean;
  readonly partial_images?: number;
  readonly safety_identifier?: string;
}

/** Checks what generations and edits have in common, or refuses the call. */
export function readImageRequest(
  call: Call,
  body: Record<string, unknown>,
  fields: Record<string, Check>,
  required: readonly string[] = ['prompt'],
): ImageRequest {
  modelFor(call, 'image');
  refuseProblem(checkFields(body, fields, required, '', call.fault.lenient));
  const request = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  refuseProblem(checkForModel(request, call.model!) ?? checkCombination(request));
  if (request.prompt === '')
    refuse(400, {
      message: "Invalid 'prompt': string too short. Expected a string with minimum length 1.",
      param: 'prompt',
      code: 'string_below_min_length',
    });
  return request as unknown as ImageRequest;
}

function checkForModel(request: Record<string, unknown>, name: string): Problem | undefined {
  const model = IMAGE_MODELS[name]!;
  const { quality, size, input_fidelity: fidelity } = request as Record<string, string | undefined>;
  if (quality !== undefined && !model.qualities.includes(quality))
    return wrongValue('quality', quality, model.qualities);
  if (size !== undefined) {
    if (model.anySize) return checkAnySize(size);
    if (!FIXED_SIZES.includes(size)) return wrongValue('size', size, FIXED_SIZES);
  }
  if (fidelity === undefined || model.fidelities.includes(fidelity)) return undefined;
  const message = `The model '${name}' does not support the 'input_fidelity' value '${fidelity}'.`;
  return { param: 'input_fidelity', code: 'invalid_input_fidelity_model', message };
}

/** Sides divisible by 16, ratio up to 3:1, longest side 3840, 655,360 to 8,294,400 pixels. */
function checkAnySize(size: string): Problem | undefined {
  if (size === 'auto') return undefined;
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(size);
  if (!match) return wrongSize(size, "Expected 'auto' or WIDTHxHEIGHT.");
  const [width, height] = [Number(match[1]), Number(match[2])];
  const [longest, shortest] = [Math.max(width, height), Math.min(width, height)];
  if (width % SIDE_STEP !== 0 || height % SIDE_STEP !== 0)
    return wrongSize(size, `Width and height must both be divisible by ${SIDE_STEP}.`);
  if (longest > LONGEST_SIDE) return wrongSize(size, `The longest edge must be at most ${LONGEST_SIDE} pixels.`);
  if (longest > shortest * LARGEST_RATIO) return wrongSize(size, 'The aspect ratio must be between 1:3 and 3:1.');
  const pixels = width * height;
  if (pixels < FEWEST_PIXELS) return wrongSize(size, `The image must have at least ${FEWEST_PIXELS} pixels.`);
  return pixels > MOST_PIXELS ? wrongSize(size, `The image must have at most ${MOST_PIXELS} pixels.`) : undefined;
}

function wrongSize(size: string, rule: string): Problem {
  return { param: 'size', code: 'invalid_value', message: `Invalid size '${size}'. ${rule}` };
}

function checkCombination(request: Record<string, unknown>): Problem | undefined {
  const { output_format: format = 'png', background, output_compression: compression } = request;
  if (request.partial_images !== undefined && request.stream !== true)
    return combined('partial_images', "The 'partial_images' parameter is only allowed when 'stream' is enabled.");
  if (background === 'transparent' && format === 'jpeg')
    return combined('background', "Transparent background is not supported for output format 'jpeg'.");
  if (compression !== undefined && compression !== 100 && format === 'png')
    return combined('output_compression', 'Compression less than 100 is not supported for PNG output format.');
  return undefined;
}

function combined(param: string, message: string): Problem {
  return { param, code: 'invalid_parameter_combination', message };
}
