/** The answer for the client (spec 2.3, 2.4, 6.1): JSON or events, Base64 as pieces of its own. */
import {
  type ClientImageEvent,
  type DeliveredImage,
  type GatewayError,
  type ImageCall,
  type ImageResult,
  type JsonObject,
  type JsonValue,
  openAiError,
  type Pieces,
  type TokenUsage,
} from '../../../engine/plugin.ts';

const now = (): number => Math.floor(Date.now() / 1000);

/** OpenAI's usage object; the vendor's own details where it gave any. */
function usageOf(usage: TokenUsage | null, extra: JsonObject): JsonValue {
  if (extra.usage !== undefined) return extra.usage;
  const { input, output } = usage ?? { input: 0, output: 0 };
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
  };
}

const formatOf = (mediaType: string): string => mediaType.replace(/^image\//, '');

const sizeOf = ({ width, height }: DeliveredImage): string | null =>
  width === null || height === null ? null : `${width}x${height}`;

/** JSON whose closing brace is cut off, so that members can follow. */
const opened = (value: object): string => JSON.stringify(value).slice(0, -1);

/** `url` or `b64_json` as the last member of an object that `head` has begun and `tail` closes. */
function withImage(head: string, image: DeliveredImage, tail: string): Buffer[] {
  const comma = head.endsWith('{') ? '' : ',';
  if (image.base64 === null) return [Buffer.from(`${head}${comma}"url":${JSON.stringify(image.url)}}${tail}`)];
  return [Buffer.from(`${head}${comma}"b64_json":"`), image.base64, Buffer.from(`"}${tail}`)];
}

/** What is known of all images: the vendor's word on background and quality, format and size from the bytes. */
function facts(images: readonly DeliveredImage[], extra: JsonObject, call: ImageCall): JsonObject {
  const [first] = images;
  const known: [string, JsonValue | null | undefined][] = [
    ['size', first ? (sizeOf(first) ?? extra.size) : extra.size],
    ['quality', extra.quality ?? call.settings.quality],
    ['background', extra.background],
    ['output_format', first ? formatOf(first.mediaType) : extra.output_format],
  ];
  return Object.fromEntries(known.filter((entry): entry is [string, JsonValue] => (entry[1] ?? null) !== null));
}

export function encodeResult(images: readonly DeliveredImage[], result: ImageResult, call: ImageCall): Pieces {
  const head = opened({ created: result.created ?? now(), ...facts(images, result.extra, call) });
  const hasUsage = result.usage !== null || result.extra.usage !== undefined;
  const usage = hasUsage ? `,"usage":${JSON.stringify(usageOf(result.usage, result.extra))}` : '';
  const pieces: Buffer[] = [Buffer.from(`${head}${usage},"data":[`)];
  for (const [index, image] of images.entries()) {
    const prompt = image.revisedPrompt ? { revised_prompt: image.revisedPrompt } : {};
    pieces.push(...withImage(`${index === 0 ? '' : ','}${opened(prompt)}`, image, ''));
  }
  pieces.push(Buffer.from(']}'));
  return pieces;
}

/** Every member of the official events is there; what nobody knows is `auto`, an unknown background opaque. */
export function encodeEvent(event: ClientImageEvent, call: ImageCall): Pieces {
  const prefix = call.operation === 'edit' ? 'image_edit' : 'image_generation';
  const type = `${prefix}.${event.type === 'partial' ? 'partial_image' : 'completed'}`;
  const image: DeliveredImage =
    event.type === 'completed'
      ? event.image
      : { url: null, base64: event.base64, mediaType: '', width: null, height: null, revisedPrompt: null };
  const known = event.type === 'completed' ? facts([image], event.extra, call) : event.extra;
  const members = {
    type,
    created_at: event.extra.created_at ?? now(),
    size: known.size ?? 'auto',
    quality: known.quality ?? 'auto',
    background: known.background ?? 'opaque',
    output_format: known.output_format ?? 'png',
    ...(event.type === 'completed'
      ? { usage: usageOf(event.usage, event.usage === null ? {} : event.extra) }
      : { partial_image_index: event.index }),
  };
  return withImage(`event: ${type}\ndata: ${opened(members)}`, image, '\n\n');
}

export const encodeError = openAiError;

export function encodeStreamError(error: GatewayError, requestId: string): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', ...openAiError(error, requestId) })}\n\n`;
}
