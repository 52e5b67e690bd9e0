/** An image request that was not made on an image route: the same call as the image routes read. */
import type { ChatPart } from '../contract/chat.ts';
import type { ImageCall, ImageFields, ImageFile } from '../contract/image.ts';
import type { JsonObject } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import { sniffImage } from '../objects/image-type.ts';
import { unsupported } from './openai/fields.ts';

/** A reference image as a conversation holds it: Base64. */
export interface InlineImage {
  readonly data: string;
  readonly mediaType: string | null;
  /** The field it came in, for errors. */
  readonly param: string;
}

export interface DrawnRequest {
  readonly model: string;
  readonly prompt: string;
  readonly references: readonly InlineImage[];
  readonly fields: Partial<ImageFields>;
  readonly responseFormat: 'url' | 'b64_json';
  readonly stream: boolean;
  readonly partialImages?: number | null;
  readonly extra?: JsonObject;
}

/**
 * What the message in the field `param` asks to draw: its text is the prompt, its pictures are the references. `before`
 * are pictures of the answer before it, which it goes on with where it has none of its own.
 */
export function drawingAskedIn(
  parts: readonly ChatPart[],
  param: string,
  before: readonly InlineImage[],
): Pick<DrawnRequest, 'prompt' | 'references'> {
  const references: InlineImage[] = [];
  const prompt: string[] = [];
  for (const part of parts) {
    if (part.type === 'text') prompt.push(part.text);
    else if (part.type !== 'image') throw unsupported(param, `cannot hold a part of the type ${part.type} here.`);
    else if (part.data === null) throw unsupported(param, 'must hold images as data URLs for a model that draws.');
    else references.push({ data: part.data, mediaType: part.mediaType, param });
  }
  if (prompt.join('').trim() === '')
    throw new GatewayError('invalid_value', `\`${param}\` must say what to draw.`, { param });
  return { prompt: prompt.join('\n'), references: references.length > 0 ? references : before };
}

/** Without references it generates, with some it edits. Throws `invalid_value` for what is no Base64 image. */
export function drawnCall(request: DrawnRequest): ImageCall {
  const fields: ImageFields = {
    n: null,
    size: null,
    aspect_ratio: null,
    resolution: null,
    image_size: null,
    quality: null,
    ...request.fields,
  };
  const references = request.references.map(fileOf);
  return {
    kind: 'image',
    operation: references.length > 0 ? 'edit' : 'generate',
    model: request.model,
    prompt: request.prompt,
    fields,
    responseFormat: request.responseFormat,
    stream: request.stream,
    partialImages: request.partialImages ?? null,
    references,
    mask: null,
    extra: request.extra ?? {},
    claims: [],
    settings: {
      n: fields.n ?? 1,
      size: fields.size,
      quality: fields.quality,
      aspectRatio: fields.aspect_ratio,
      resolution: fields.resolution ?? fields.image_size,
    },
  };
}

function fileOf({ data, param }: InlineImage, index: number): ImageFile {
  const bytes = Buffer.from(data, 'base64');
  const sniffed = sniffImage(bytes);
  if (sniffed === null) throw new GatewayError('invalid_value', `\`${param}\` is not an image in Base64.`, { param });
  return {
    bytes,
    mediaType: sniffed.mediaType,
    name: `image-${index + 1}.${sniffed.mediaType.slice('image/'.length)}`,
  };
}
