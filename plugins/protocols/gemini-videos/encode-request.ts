/** `:predictLongRunning`: one instance, and parameters. Pictures go in as Base64 only. */
import {
  compileShapeOf,
  type JsonObject,
  jsonUpstream,
  present,
  type UpstreamBody,
  unsupported,
  type VideoReference,
  type VideoRequest,
} from '../../../engine/plugin.ts';

const shapeOf = compileShapeOf(['16:9', '9:16']);

function pictureOf(reference: VideoReference): JsonObject {
  if (reference.kind === 'file') {
    const { bytes, mediaType } = reference.file;
    return { bytesBase64Encoded: bytes.toString('base64'), mimeType: mediaType };
  }
  throw unsupported('input_reference', 'takes no address for this model: send the image itself, or a data URL.');
}

function instanceOf({ prompt, references }: VideoRequest): JsonObject {
  const [first, ...others] = references;
  if (first === undefined) return { prompt };
  if (others.length === 0) return { prompt, image: pictureOf(first) };
  const referenceImages = references.map((one) => ({ image: pictureOf(one), referenceType: 'asset' }));
  return { prompt, referenceImages };
}

/** The model stands in the path; `extra` of OpenAI clients has no place here. */
export function encodeRequest(request: VideoRequest): UpstreamBody {
  const { aspectRatio, resolution } = shapeOf(request);
  const parameters = present({
    ...request.vendorFields,
    negativePrompt: request.negativePrompt,
    aspectRatio,
    // Told only where it was asked for: 720p is what there is anyway, and smaller is not to be had.
    resolution: resolution === '480p' ? '720p' : resolution,
    durationSeconds: request.seconds,
    sampleCount: 1,
  });
  return jsonUpstream({ instances: [instanceOf(request)], parameters });
}
