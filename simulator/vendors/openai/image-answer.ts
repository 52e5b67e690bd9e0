import { epochSeconds, eventFrame, imageSlot, jsonAnswer, streamAnswer } from '../../answers.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import type { Picture } from '../../images/pictures.ts';
import { countTokens } from '../../reply-text.ts';
import { readSteering } from '../../steering.ts';
import { openaiHeaders } from './errors.ts';
import type { ImageRequest } from './image-request.ts';

const TOKENS_PER_INPUT_IMAGE = 323;
const TOKENS_PER_PARTIAL = 100;
const STANDARD_PIXELS = 1024 * 1024;
const OUTPUT_TOKENS: Record<string, number> = { low: 272, medium: 1056, high: 4160, xhigh: 8320, max: 16_640 };

export interface ImageOperation {
  readonly event: 'image_generation' | 'image_edit';
  readonly inputImages: number;
}

interface Facts {
  readonly size: string;
  readonly quality: string;
  readonly background: string;
  readonly output_format: 'png' | 'jpeg' | 'webp';
}

/** Draws what a checked request asks for and answers whole or as events. */
export function answerImages(request: ImageRequest, operation: ImageOperation, call: Call): Answer {
  const facts = factsOf(request);
  const draw = (seed: string, bytes?: number): Picture => {
    const [width, height] = facts.size.split('x').map(Number) as [number, number];
    return call.pictures.draw({ format: facts.output_format, width, height, seed: `${request.prompt} ${seed}`, bytes });
  };
  const steering = readSteering(request.prompt);
  const pictures = Array.from({ length: request.n ?? 1 }, (_, index) => draw(String(index), steering.bytes));
  if (request.stream) return streamImages(request, operation, call, facts, pictures, draw, steering.delay);
  const data = pictures.map((_, index) => ({ b64_json: imageSlot(index) }));
  const usage = call.fault.nousage ? {} : { usage: usageOf(request, operation, facts, pictures.length, true) };
  const value = { created: epochSeconds(), ...identifier(request), ...facts, data, ...usage };
  return jsonAnswer(
    200,
    value,
    openaiHeaders(),
    pictures.map(({ base64 }) => base64),
  );
}

/**
 * Partial images of one picture, its completed event, then the next picture: events carry no image index. Partial events
 * describe what was asked for, `auto` too, the completed one what was drawn.
 */
function streamImages(
  request: ImageRequest,
  { event, inputImages }: ImageOperation,
  call: Call,
  facts: Facts,
  pictures: readonly Picture[],
  draw: (seed: string) => Picture,
  delay: number,
): Answer {
  const frame = (type: string, picture: Picture, extra: object): Frame => {
    const value = { type, b64_json: imageSlot(0), created_at: epochSeconds(), ...facts, ...extra };
    return eventFrame(type, value, [picture.base64]);
  };
  const { output_tokens_details: _, ...usage } = usageOf(request, { event, inputImages }, facts, 1, false);
  const tail = { ...(call.fault.nousage ? {} : { usage }), ...identifier(request) };
  const { size = 'auto', quality = 'auto', background = 'auto' } = request;
  const asked = { size, quality, background };
  const frames = pictures.flatMap((picture, copy) => [
    ...Array.from({ length: request.partial_images ?? 0 }, (_, index) =>
      frame(`${event}.partial_image`, draw(`${copy} partial ${index}`), { ...asked, partial_image_index: index }),
    ),
    frame(`${event}.completed`, picture, tail),
  ]);
  return streamAnswer(frames, delay, openaiHeaders());
}

function factsOf(request: ImageRequest): Facts {
  const { size = 'auto', quality = 'auto', background = 'auto', output_format = 'png' } = request;
  return {
    background: background === 'auto' ? 'opaque' : background,
    output_format,
    quality: quality === 'auto' ? 'high' : quality,
    size: size === 'auto' ? '1024x1024' : size,
  };
}

function identifier(request: ImageRequest): { safety_identifier?: string } {
  return request.safety_identifier === undefined ? {} : { safety_identifier: request.safety_identifier };
}

/** Output: a figure by quality for 1024x1024, scaled by pixels; 100 more for each partial image. Input: prompt, 323 an image. */
function usageOf(
  request: ImageRequest,
  { inputImages }: ImageOperation,
  { size, quality }: Facts,
  images: number,
  whole: boolean,
) {
  const [width, height] = size.split('x').map(Number) as [number, number];
  const perImage = Math.ceil((OUTPUT_TOKENS[quality]! * width * height) / STANDARD_PIXELS);
  const partials = whole ? 0 : (request.partial_images ?? 0) * TOKENS_PER_PARTIAL;
  const output = perImage * images + partials;
  const text = countTokens(request.prompt);
  const input = text + inputImages * TOKENS_PER_INPUT_IMAGE;
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: text, image_tokens: input - text },
    output_tokens_details: { image_tokens: output, text_tokens: 0 },
  };
}
