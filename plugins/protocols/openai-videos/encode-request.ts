/** `POST /videos`: JSON, or a form where a picture's bytes go along. */
import { randomBytes } from 'node:crypto';
import {
  compileShapeOf,
  GatewayError,
  type ImageFile,
  type JsonObject,
  jsonUpstream,
  present,
  type UpstreamBody,
  unsupported,
  type VideoRequest,
} from '../../../engine/plugin.ts';

const shapeOf = compileShapeOf(['16:9', '9:16']);

/** Resolution → landscape size; OpenAI knows two of each orientation. */
const sizes: Readonly<Record<string, readonly [long: number, short: number]>> = {
  '720p': [1280, 720],
  '1080p': [1792, 1024],
};

/** OpenAI knows sizes only: ratio and resolution become one. */
function sizeOf(request: VideoRequest): string | null {
  if (request.size !== null) return request.size;
  const { aspectRatio, resolution } = shapeOf(request);
  if (aspectRatio === null && resolution === null) return null;
  const tier = resolution?.toLowerCase() ?? '720p';
  if (!Object.hasOwn(sizes, tier)) throw unsupported('resolution', 'must be `720p` or `1080p` for this model.');
  const [long, short] = sizes[tier]!;
  if (aspectRatio === null || aspectRatio === '16:9') return `${long}x${short}`;
  if (aspectRatio === '9:16') return `${short}x${long}`;
  throw unsupported('aspect_ratio', 'must be `16:9` or `9:16` for this model.');
}

export function encodeRequest(request: VideoRequest, vendorModel: string): UpstreamBody {
  const [reference, ...others] = request.references;
  if (others.length > 0)
    throw new GatewayError('too_many_images', 'This model takes one reference image.', { param: 'input_reference' });
  const members = present({
    ...request.vendorFields,
    ...request.extra,
    negative_prompt: request.negativePrompt,
    model: vendorModel,
    prompt: request.prompt,
    seconds: String(request.seconds),
    size: sizeOf(request),
  });
  if (reference === undefined) return jsonUpstream(members);
  if (reference.kind === 'url') return jsonUpstream({ ...members, input_reference: { image_url: reference.url } });
  return encodeForm(members, reference.file);
}

/** Field names as HTML forms escape them: nothing can end the header. */
const fieldName = (name: string): string =>
  name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character)).slice(0, 200);

function encodeForm(members: JsonObject, { bytes, mediaType }: ImageFile): UpstreamBody {
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const fields = Object.entries(members).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `--${boundary}\r\nContent-Disposition: form-data; name="${fieldName(name)}"\r\n\r\n${text}\r\n`;
  });
  const file = `name="input_reference"; filename="reference.${mediaType.slice('image/'.length)}"`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; ${file}\r\nContent-Type: ${mediaType}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    pieces: [Buffer.from(fields.join('') + head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}
