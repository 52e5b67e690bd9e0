import { imageSlot, jsonAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { decodeDataUrl, measureImage, nearestRatio, ratioValue } from '../../images/measure.ts';
import type { Picture } from '../../images/pictures.ts';
import { readSteering } from '../../steering.ts';
import { type ImageRequest, RATIOS, readImageRequest, sourcesOf } from './request.ts';

/** Pixels at 1k; observed sizes (960x960, 1280x720) are all about this large. */
const PIXELS_1K = 960 * 960;
const SCALES: Record<string, number> = { '1k': 1, '1.5k': 1.5, '2k': 2 };
const SIDE_STEP = 8;

/** `POST /v1/images/generations` and `/v1/images/edits`. */
export function answerImages(call: Call): Answer {
  const { request, model } = readImageRequest(call);
  const { bytes } = readSteering(request.prompt);
  const [width, height] = pixelsOf(request);
  const count = request.n ?? 1;
  const pictures = Array.from({ length: count }, (_, index) =>
    call.pictures.draw({ format: model.mime, width, height, seed: `${request.prompt} ${index}`, bytes }),
  );
  const asUrl = (request.response_format ?? 'url') === 'url';
  const place = (picture: Picture, index: number): object =>
    asUrl ? { url: `${call.origin}/xai/files/${call.pictures.publish(picture)}` } : { b64_json: imageSlot(index) };
  const data = pictures.map((picture, index) => {
    return { ...place(picture, index), mime_type: picture.mime, revised_prompt: '', respect_moderation: true };
  });
  const usage = call.fault.nousage ? {} : { usage: { cost_in_usd_ticks: model.ticks * count } };
  return jsonAnswer(200, { data, ...usage }, {}, asUrl ? [] : pictures.map(({ base64 }) => base64));
}

/** The area of the tier in the asked ratio; a single source image keeps its own ratio. */
function pixelsOf(request: ImageRequest): [number, number] {
  const asked = request.aspect_ratio === 'auto' ? undefined : request.aspect_ratio;
  const own = sourceRatio(request);
  const ratio = ratioValue((request.image ? (own ?? asked) : (asked ?? own)) ?? '1:1');
  const scale = SCALES[request.resolution ?? '1k']!;
  const round = (side: number): number => Math.round((side * scale) / SIDE_STEP) * SIDE_STEP;
  return [round(Math.sqrt(PIXELS_1K * ratio)), round(Math.sqrt(PIXELS_1K / ratio))];
}

function sourceRatio(request: ImageRequest): string | undefined {
  const bytes = decodeDataUrl(sourcesOf(request)[0]?.url ?? '');
  const measured = bytes && measureImage(bytes);
  return measured?.width && measured.height ? nearestRatio(measured.width, measured.height, RATIOS) : undefined;
}
