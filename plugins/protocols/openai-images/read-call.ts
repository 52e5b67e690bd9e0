/** The client's request (spec 2.1, 2.2): JSON for generations, multipart for edits. */
import {
  GatewayError,
  type ImageBody,
  type ImageCall,
  type ImageFields,
  type ImageFile,
  type JsonObject,
  type JsonValue,
  quoted,
  sniffImage,
} from '../../../engine/plugin.ts';
import { boundedInteger, jsonScalars, requiredText, responseFormat, type Scalars, textScalars } from './fields.ts';

type MultipartBody = Extract<ImageBody, { kind: 'multipart' }>;
type Operation = ImageCall['operation'];

const knownFields: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'aspect_ratio',
  'resolution',
  'image_size',
  'quality',
  'response_format',
  'stream',
  'partial_images',
]);

/** Official clients send one file as `image` and several as `image[]`; some number them. */
const imageField = /^image(\[\d*\])?$/;

const noImage = (message?: string): GatewayError => new GatewayError('missing_image', message, { param: 'image' });

interface Files {
  readonly references: readonly ImageFile[];
  readonly mask: ImageFile | null;
}

export function readCall(operation: Operation, body: ImageBody): ImageCall {
  if (operation === 'edit') {
    if (body.kind === 'json') throw noImage();
    return callOf(operation, textScalars(singleFields(body)), readFiles(body), textExtra(body));
  }
  if (body.kind === 'multipart') {
    throw new GatewayError('unsupported_content_type', 'Image generation takes application/json.');
  }
  return callOf(operation, jsonScalars(body.value), { references: [], mask: null }, jsonExtra(body.value));
}

/** Deeper than any vendor's field; written out again, a hundred thousand levels would exhaust the stack. */
const deepest = 100;

const isDeeper = (value: JsonValue, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1)));

function jsonExtra(body: JsonObject): JsonObject {
  const extra = Object.entries(body).filter(([name]) => !knownFields.has(name));
  const deep = extra.find(([, value]) => isDeeper(value, deepest));
  if (deep === undefined) return Object.fromEntries(extra);
  const param = deep[0].slice(0, 60);
  throw new GatewayError('invalid_value', `${quoted(param)} is nested more than ${deepest} levels deep.`, { param });
}

function callOf(operation: Operation, scalars: Scalars, files: Files, extra: JsonObject): ImageCall {
  const fields: ImageFields = {
    n: boundedInteger(scalars, 'n', 1, Number.MAX_SAFE_INTEGER),
    size: scalars.text('size'),
    aspect_ratio: scalars.text('aspect_ratio'),
    resolution: scalars.text('resolution'),
    image_size: scalars.text('image_size'),
    quality: scalars.text('quality'),
  };
  return {
    kind: 'image',
    operation,
    model: requiredText(scalars, 'model'),
    prompt: requiredText(scalars, 'prompt'),
    fields,
    responseFormat: responseFormat(scalars),
    stream: scalars.flag('stream') ?? false,
    partialImages: boundedInteger(scalars, 'partial_images', 0, 3),
    ...files,
    extra,
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

/** The fields the gateway reads; one that is sent twice has no meaning. */
function singleFields({ fields }: MultipartBody): ReadonlyMap<string, string> {
  const single = new Map<string, string>();
  for (const [name, value] of fields) {
    if (!knownFields.has(name)) continue;
    if (single.has(name)) {
      throw new GatewayError('invalid_value', `\`${name}\` was sent more than once.`, { param: name });
    }
    single.set(name, value);
  }
  return single;
}

/** Unknown fields as they came; a repeated one is a list. */
function textExtra({ fields }: MultipartBody): JsonObject {
  const extra = new Map<string, JsonValue>();
  for (const [name, value] of fields) {
    if (knownFields.has(name)) continue;
    if (imageField.test(name) || name === 'mask') throw noFile(name);
    const before = extra.get(name);
    if (before === undefined) extra.set(name, value);
    else if (Array.isArray(before)) before.push(value);
    else extra.set(name, [before, value]);
  }
  return Object.fromEntries(extra);
}

function noFile(field: string): GatewayError {
  if (field === 'mask') return new GatewayError('invalid_type', '`mask` must be a file.', { param: 'mask' });
  return noImage(`\`${field}\` must be a file: a text was sent in its place.`);
}

function readFiles({ files }: MultipartBody): Files {
  const references: ImageFile[] = [];
  let mask: ImageFile | null = null;
  for (const file of files) {
    if (imageField.test(file.field)) references.push(imageFile(file));
    else if (file.field !== 'mask') throw unknownFile(file.field);
    else if (mask !== null)
      throw new GatewayError('invalid_value', '`mask` was sent more than once.', { param: 'mask' });
    else mask = imageFile(file);
  }
  if (references.length === 0) throw noImage();
  return { references, mask };
}

const unknownFile = (field: string): GatewayError =>
  new GatewayError('unsupported_parameter', `A file in the field ${quoted(field)} is not supported.`, {
    param: field.slice(0, 60),
  });

/** The type is what the bytes say. One that is not recognised passes as the image it claims to be: the vendor judges. */
function imageFile({ field, bytes, mediaType, name }: MultipartBody['files'][number]): ImageFile {
  if (bytes.length === 0)
    throw new GatewayError('invalid_value', `The file in \`${field}\` is empty.`, { param: field });
  const sniffed = sniffImage(bytes);
  if (sniffed) return { bytes, mediaType: sniffed.mediaType, name };
  if (/^image\/[\w.+-]{1,40}$/.test(mediaType)) return { bytes, mediaType, name };
  throw new GatewayError('invalid_value', `The file in \`${field}\` is not an image.`, { param: field });
}
