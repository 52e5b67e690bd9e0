import { isRecord } from '../../checks.ts';
import type { Call } from '../../contract.ts';
import { decodeBase64, measureImage } from '../../images/measure.ts';
import { refuse } from './errors.ts';

const INSTANCE = ['prompt', 'image', 'lastFrame', 'referenceImages'];
const PARAMETERS = [
  'aspectRatio',
  'resolution',
  'durationSeconds',
  'negativePrompt',
  'personGeneration',
  'sampleCount',
  'enhancePrompt',
];
const CHOICES: Record<string, readonly string[]> = {
  aspectRatio: ['16:9', '9:16'],
  resolution: ['720p', '1080p', '4k'],
  personGeneration: ['allow_all', 'allow_adult', 'dont_allow'],
};
const DURATIONS = [4, 6, 8];
const LONGEST = 8;
const MOST_REFERENCES = 3;

type Fields = Record<string, unknown>;

/** A checked request, defaults filled in. */
export interface VeoRequest {
  readonly prompt: string;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly seconds: number;
}

/**
 * Checks `:predictLongRunning` as the developer API does: what only Vertex takes (`seed`, `fps`, `generateAudio`, …) is
 * refused by name.
 */
export function readVeoRequest(call: Call): VeoRequest {
  const { instance, parameters } = readBody(call);
  if (!call.fault.lenient) {
    refuseUnknown(instance, INSTANCE, call);
    refuseUnknown(parameters, PARAMETERS, call);
  }
  if (typeof instance.prompt !== 'string' || instance.prompt.trim() === '')
    refuseVideo('The prompt must not be empty.', call);
  refuseWrongTypes(parameters, call);
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = parameters[name];
    if (value !== undefined && !allowed.includes(value as string))
      refuseVideo(`\`${name}\` must be one of ${allowed.join(', ')}, got ${JSON.stringify(value)}.`, call);
  }
  const {
    aspectRatio = '16:9',
    resolution = '720p',
    durationSeconds = LONGEST,
  } = parameters as Partial<{
    aspectRatio: string;
    resolution: string;
    durationSeconds: number;
  }>;
  const references = refuseImages(instance, call);
  if (durationSeconds !== LONGEST && (resolution !== '720p' || references > 0))
    refuseVideo(`\`durationSeconds\` must be ${LONGEST} for ${resolution} or with reference images.`, call);
  return { prompt: instance.prompt as string, aspectRatio, resolution, seconds: durationSeconds };
}

function readBody(call: Call): { instance: Fields; parameters: Fields } {
  const { body } = call;
  const value = body.kind === 'json' ? body.value : undefined;
  if (!isRecord(value)) {
    const reason = body.kind === 'broken' ? body.reason : 'Request must be a JSON object.';
    return refuseVideo(`Invalid JSON payload received. ${reason}`, call);
  }
  const unknown = Object.keys(value).find((name) => !['instances', 'parameters'].includes(name));
  if (unknown !== undefined && !call.fault.lenient)
    refuseVideo(`Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`, call);
  const { instances, parameters = {} } = value;
  if (!Array.isArray(instances) || instances.length !== 1 || !isRecord(instances[0]) || !isRecord(parameters))
    return refuseVideo('Exactly one instance and an object of parameters are expected.', call);
  return { instance: present(instances[0]), parameters: present(parameters) };
}

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

function refuseUnknown(fields: Fields, known: readonly string[], call: Call): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined)
    refuseVideo(
      `\`${unknown}\` isn't supported by this model. Please remove it or refer to the Gemini API documentation for supported usage.`,
      call,
    );
}

function refuseWrongTypes({ durationSeconds, sampleCount, negativePrompt, enhancePrompt }: Fields, call: Call): void {
  for (const [name, value] of Object.entries({ durationSeconds, sampleCount }))
    if (value !== undefined && typeof value !== 'number')
      refuseVideo(`The value type for \`${name}\` needs to be a number.`, call);
  if (negativePrompt !== undefined && typeof negativePrompt !== 'string')
    refuseVideo('The value type for `negativePrompt` needs to be a string.', call);
  if (enhancePrompt !== undefined && enhancePrompt !== true) refuseVideo('`enhancePrompt` must be true.', call);
  if (durationSeconds !== undefined && !DURATIONS.includes(durationSeconds as number))
    refuseVideo(`\`durationSeconds\` must be one of ${DURATIONS.join(', ')}, got ${durationSeconds}.`, call);
  if (sampleCount !== undefined && sampleCount !== 1) refuseVideo('`sampleCount` must be 1.', call);
}

/** Checks every image and returns how many are references. */
function refuseImages({ image, lastFrame, referenceImages = [] }: Fields, call: Call): number {
  if (image !== undefined) refuseBadImage('image', image, call);
  if (lastFrame !== undefined) refuseBadImage('lastFrame', lastFrame, call);
  if (lastFrame !== undefined && image === undefined) refuseVideo('`lastFrame` needs an `image`.', call);
  if (!Array.isArray(referenceImages) || referenceImages.length > MOST_REFERENCES)
    return refuseVideo(`\`referenceImages\` takes at most ${MOST_REFERENCES} images.`, call);
  for (const reference of referenceImages) {
    if (!isRecord(reference) || reference.referenceType !== 'asset')
      return refuseVideo('`referenceType` must be asset.', call);
    refuseBadImage('referenceImages', reference.image, call);
  }
  if (referenceImages.length > 0 && image !== undefined)
    refuseVideo('`referenceImages` cannot be combined with `image`.', call);
  return referenceImages.length;
}

function refuseBadImage(name: string, image: unknown, call: Call): void {
  const { bytesBase64Encoded: data, mimeType } = isRecord(image) ? image : {};
  if (typeof data !== 'string' || typeof mimeType !== 'string')
    return refuseVideo(
      `Input instance with \`${name}\` should contain both \`bytesBase64Encoded\` and \`mimeType\`.`,
      call,
    );
  const bytes = decodeBase64(data);
  if (!bytes || measureImage(bytes)?.mime !== mimeType)
    refuseVideo('Unable to process input image. Please retry or report.', call);
}

function refuseVideo(message: string, call: Call): never {
  return refuse(400, { message }, call);
}
