import {
  encodeBase64,
  GatewayError,
  type ImageCall,
  type ImageFile,
  type JsonObject,
  type UpstreamBody,
} from '../../../engine/plugin.ts';

/** What would change the picture and cannot be said is refused, not dropped. */
function refuseUnsupported({ mask, extra }: ImageCall): void {
  const refuse = (param: string, message: string): never => {
    throw new GatewayError('unsupported_parameter', message, { param });
  };
  // Of a generation: whoever sends pictures beside a prompt would pay for one that is drawn without them.
  for (const name of ['image', 'images', 'mask'] as const)
    if (Object.hasOwn(extra, name)) refuse(name, `Send \`${name}\` to /v1/images/edits, as a file in a form.`);
  if (mask) refuse('mask', '`mask` is not supported by this model. Describe the region in the prompt.');
  if (extra.background === 'transparent') {
    refuse('background', '`background` `transparent` is not supported by this model.');
  }
}

function membersOf({ prompt, settings, extra }: ImageCall, vendorModel: string): JsonObject {
  const { n, aspectRatio, resolution, quality } = settings;
  return {
    model: vendorModel,
    prompt,
    n,
    ...(aspectRatio === null ? {} : { aspect_ratio: aspectRatio }),
    ...(resolution === null ? {} : { resolution }),
    ...(quality === null ? {} : { quality }),
    ...(typeof extra.user === 'string' ? { user: extra.user } : {}),
    response_format: 'b64_json',
  };
}

const source = ({ bytes, mediaType }: ImageFile): Buffer[] => [
  Buffer.from(`{"url":"data:${mediaType};base64,`),
  encodeBase64(bytes),
  Buffer.from('","type":"image_url"}'),
];

/** One source is `image`, several are `images`: xAI refuses both at once. */
function sources(references: readonly ImageFile[]): Buffer[] {
  const [first, ...others] = references;
  if (first === undefined) return [];
  if (others.length === 0) return [Buffer.from(',"image":'), ...source(first)];
  const list = others.flatMap((reference) => [Buffer.from(','), ...source(reference)]);
  return [Buffer.from(',"images":['), ...source(first), ...list, Buffer.from(']')];
}

export function encodeRequest(call: ImageCall, vendorModel: string): UpstreamBody {
  refuseUnsupported(call);
  const head = JSON.stringify(membersOf(call, vendorModel)).slice(0, -1);
  const pieces = [Buffer.from(head), ...sources(call.references), Buffer.from('}')];
  return { contentType: 'application/json', pieces };
}
