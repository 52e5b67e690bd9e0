/**
 * A client's video request, JSON or a form. OpenAI's route and the compatible one differ in few words, and no client
 * minds if each is understood on both: `seconds` and `duration`, `size` and `width` with `height`, `input_reference`,
 * `image` and `images`.
 */
import type { ImageBody } from '../../contract/image.ts';
import { noUsage } from '../../contract/usage.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { VideoCall, VideoReference, VideoRequest } from '../../contract/video.ts';
import { GatewayError } from '../../errors.ts';
import { invalidType, isObject, stringOrNull, unsupported } from '../openai/fields.ts';
import { fileReference, urlReference } from './reference.ts';

/** What is made where neither client nor family says how long: OpenAI's own default. */
export const standardSeconds = 4;

const longestPrompt = 32_000;
const mostReferences = 16;
const longestFilm = 3600;

/** Names for the same thing. `metadata` may hold them too: it says what the request itself leaves open. */
const meanings: readonly (readonly string[])[] = [
  ['seconds', 'duration'],
  ['size', 'width', 'height'],
  ['aspect_ratio'],
  ['resolution'],
  ['negative_prompt'],
  ['input_reference', 'image', 'images'],
  ['n'],
];

const known: ReadonlySet<string> = new Set(['model', 'prompt', 'metadata', ...meanings.flat()]);

/** Where a vendor would bring the film, or tell somebody of it, past the gateway: then nothing could be kept or charged. */
const elsewhere: ReadonlySet<string> = new Set([
  'output',
  'storage_options',
  'storage_uri',
  'storageuri',
  'upload_url',
  'callback_url',
  'webhook_url',
]);

/** Where pictures stand, alone or in a list; a form may number its fields. */
const pictureField = /^(?:input_reference|images?)(?:\[\d*\])?$/;

type Files = readonly VideoReference[];

/** Throws GatewayError 400 naming the field. */
export function readVideoCall(body: ImageBody): VideoCall {
  const { value: said, files } = body.kind === 'json' ? { value: body.value, files: [] } : readForm(body);
  const metadata = metadataOf(said.metadata);
  const value = { ...said, ...leftOpen(said, metadata) };
  const request: VideoRequest = {
    prompt: requiredText(value, 'prompt', longestPrompt),
    seconds: secondsOf(value),
    size: sizeOf(value),
    aspectRatio: stringOrNull(value.aspect_ratio, 'aspect_ratio'),
    resolution: stringOrNull(value.resolution, 'resolution'),
    negativePrompt: stringOrNull(value.negative_prompt, 'negative_prompt'),
    references: referencesOf(value, files),
    extra: unknownOf(said),
    vendorFields: unknownOf(metadata),
  };
  refuseSeveral(value.n);
  return videoCall(requiredText(value, 'model', 500), request);
}

function videoCall(model: string, request: VideoRequest): VideoCall {
  return {
    kind: 'video',
    model,
    stream: false,
    request,
    get bound() {
      return { ...noUsage, seconds: this.request.seconds ?? standardSeconds };
    },
  };
}

function requiredText(value: JsonObject, param: string, longest: number): string {
  const text = stringOrNull(value[param], param);
  if (text === null) throw new GatewayError('missing_required_parameter', `\`${param}\` is missing.`, { param });
  if (text.trim() === '') throw invalidValue(param, `\`${param}\` must not be empty.`);
  if (text.length > longest) throw invalidValue(param, `\`${param}\` is longer than ${longest} characters.`);
  return text;
}

const invalidValue = (param: string, message: string) => new GatewayError('invalid_value', message, { param });

/** A positive number, as JSON number or as text; null where the field is not there. */
function positive(value: JsonValue | undefined, param: string, most: number): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' && typeof value !== 'string') throw invalidType(param, 'a number');
  const number = typeof value === 'number' ? value : /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN;
  if (number > 0 && number <= most) return number;
  throw invalidValue(param, `\`${param}\` must be a number above 0, at most ${most}.`);
}

/** Vendors make whole seconds: a part of one costs as much as it. */
function secondsOf({ seconds, duration }: JsonObject): number | null {
  const one = positive(seconds, 'seconds', longestFilm);
  const other = positive(duration, 'duration', longestFilm);
  if (one !== null && other !== null && one !== other) throw conflict('duration', 'seconds');
  const asked = one ?? other;
  return asked === null ? null : Math.ceil(asked);
}

function sizeOf(value: JsonObject): string | null {
  const size = stringOrNull(value.size, 'size');
  const width = positive(value.width, 'width', 99_999);
  const height = positive(value.height, 'height', 99_999);
  if (width === null && height === null) return size;
  if (width === null || height === null) {
    const missing = width === null ? 'width' : 'height';
    throw new GatewayError('missing_required_parameter', '`width` and `height` go together.', { param: missing });
  }
  const pixels = `${Math.round(width)}x${Math.round(height)}`;
  if (size !== null && size !== pixels) throw conflict('width', 'size');
  return pixels;
}

const conflict = (param: string, other: string) =>
  new GatewayError('conflicting_parameters', `\`${param}\` and \`${other}\` contradict each other.`, { param });

/** Several videos would be several tasks. */
function refuseSeveral(n: JsonValue | undefined): void {
  if (n === undefined || n === null || Number(n) === 1) return;
  throw invalidValue('n', '`n` must be 1: a task makes one video.');
}

function metadataOf(metadata: JsonValue | undefined): JsonObject {
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata)) throw invalidType('metadata', 'an object');
  return metadata;
}

const isSaid = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

/** What `metadata` says of that of which the request itself says nothing. */
function leftOpen(said: JsonObject, metadata: JsonObject): JsonObject {
  const open = meanings.filter((names) => !names.some((name) => isSaid(said[name]))).flat();
  return Object.fromEntries(open.flatMap((name) => (isSaid(metadata[name]) ? [[name, metadata[name]!]] : [])));
}

/** What only vendors know. Some of them read names in any case. */
function unknownOf(fields: JsonObject): JsonObject {
  const unknown = Object.entries(fields).filter(([name]) => !known.has(name));
  for (const [name, value] of unknown) {
    const plain = name.toLowerCase();
    if (known.has(plain)) throw unsupported(name, `is written \`${plain}\`.`);
    if (elsewhere.has(plain) && isSaid(value) && value !== '')
      throw unsupported(name, 'is not supported: the gateway keeps the video and tells where it is.');
  }
  return writable(Object.fromEntries(unknown));
}

/** A hundred thousand levels can be read, but not written again. */
function writable(fields: JsonObject): JsonObject {
  try {
    JSON.stringify(fields);
    return fields;
  } catch {
    throw invalidValue('metadata', 'The body is nested too deeply.');
  }
}

function referencesOf(value: JsonObject, files: Files): Files {
  const references = [
    ...files,
    ...['input_reference', 'image', 'images'].flatMap((param) => picturesIn(value[param], param)),
  ];
  if (references.length <= mostReferences) return references;
  throw new GatewayError('too_many_images', `At most ${mostReferences} reference images are accepted.`, {
    param: 'input_reference',
  });
}

/** A URL, an object with one, or a list of either. */
function picturesIn(value: JsonValue | undefined, param: string): VideoReference[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [urlReference(param, value)];
  if (Array.isArray(value)) return value.flatMap((item, index) => picturesIn(item, `${param}[${index}]`));
  if (!isObject(value)) throw invalidType(param, 'an image URL or an object with `image_url`');
  if (value.file_id !== undefined && value.file_id !== null)
    throw unsupported(`${param}.file_id`, 'is not supported: send the image itself, or its `image_url`.');
  const url = stringOrNull(value.image_url ?? value.url, `${param}.image_url`);
  if (url !== null) return [urlReference(`${param}.image_url`, url)];
  throw new GatewayError('missing_required_parameter', `\`${param}.image_url\` is missing.`, {
    param: `${param}.image_url`,
  });
}

/** A form's fields as the JSON they stand for: `input_reference[image_url]` is a member, and files are pictures. */
function readForm({ fields, files }: Extract<ImageBody, { kind: 'multipart' }>) {
  const value: JsonObject = {};
  for (const [name, text] of fields) {
    const [, outer, inner] = /^(\w+)\[([A-Za-z_]\w*)\]$/.exec(name) ?? [];
    if (outer === undefined || inner === undefined) put(value, name, name === 'metadata' ? parsed(text) : text);
    else put(member(value, outer), inner, text);
  }
  const pictures = files.map((file) => {
    if (pictureField.test(file.field)) return fileReference(file.field, file);
    const param = file.field.slice(0, 60);
    throw unsupported(param, 'takes no file. Send the picture as `input_reference`.');
  });
  return { value, files: pictures };
}

/** The one way in which a name such as `__proto__` is a member like any other. */
function put(target: JsonObject, name: string, value: JsonValue): void {
  if (Object.hasOwn(target, name))
    throw invalidValue(name.slice(0, 60), `\`${name.slice(0, 60)}\` was sent more than once.`);
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function member(value: JsonObject, name: string): JsonObject {
  const there = Object.hasOwn(value, name) ? value[name] : undefined;
  if (isObject(there)) return there;
  const made: JsonObject = {};
  put(value, name, made);
  return made;
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw invalidType('metadata', 'an object');
  }
}
