import { encodeBase64, GatewayError, type ImageCall, type Pieces, type UpstreamBody } from '../../../engine/plugin.ts';

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

function generationConfig({ aspectRatio, resolution }: ImageCall['settings']): object {
  const imageConfig = {
    ...(aspectRatio === null ? {} : { aspectRatio }),
    ...(resolution === null ? {} : { imageSize: resolution }),
  };
  return { responseModalities: ['IMAGE'], ...(Object.keys(imageConfig).length === 0 ? {} : { imageConfig }) };
}

/** The prompt, then each reference as a part of its own whose Base64 is a piece of its own. */
function parts({ prompt, references }: ImageCall): Pieces {
  return [
    Buffer.from(JSON.stringify({ text: prompt })),
    ...references.flatMap(({ bytes, mediaType }) => [
      Buffer.from(`,{"inlineData":{"mimeType":${JSON.stringify(mediaType)},"data":"`),
      encodeBase64(bytes),
      Buffer.from('"}}'),
    ]),
  ];
}

export function encodeRequest(call: ImageCall): UpstreamBody {
  refuseUnsupported(call);
  const config = JSON.stringify(generationConfig(call.settings));
  const pieces = [
    Buffer.from('{"contents":[{"role":"user","parts":['),
    ...parts(call),
    Buffer.from(`]}],"generationConfig":${config}}`),
  ];
  return { contentType: 'application/json', pieces };
}
