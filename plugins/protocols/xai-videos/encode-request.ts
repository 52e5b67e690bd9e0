import {
  compileShapeOf,
  type JsonObject,
  jsonUpstream,
  present,
  referenceUrl,
  type UpstreamBody,
  type VideoRequest,
} from '../../../engine/plugin.ts';

const shapeOf = compileShapeOf(['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3']);

/** One picture is the first frame; several are references. */
function picturesOf({ references }: VideoRequest): JsonObject {
  const sources = references.map((one) => ({ url: referenceUrl(one) }));
  const [first, ...others] = sources;
  if (first === undefined) return {};
  return others.length === 0 ? { image: first } : { reference_images: sources };
}

/** There is no negative prompt: what is not wanted is said in the prompt. */
export function encodeRequest(request: VideoRequest, vendorModel: string): UpstreamBody {
  const { aspectRatio, resolution } = shapeOf(request);
  const { user } = request.extra;
  const { prompt, negativePrompt } = request;
  return jsonUpstream(
    present({
      ...request.vendorFields,
      user: typeof user === 'string' ? user : null,
      ...picturesOf(request),
      model: vendorModel,
      prompt: negativePrompt === null ? prompt : `${prompt}\n\nAvoid: ${negativePrompt}`,
      duration: request.seconds,
      aspect_ratio: aspectRatio,
      resolution,
    }),
  );
}
