/** The request for a vendor: JSON for generations, multipart for edits. `response_format` is never sent: GPT image models refuse it. */
import { randomBytes } from 'node:crypto';
import {
  GatewayError,
  type ImageCall,
  type ImageFile,
  type JsonObject,
  type JsonValue,
  type ParameterOverrides,
  type UpstreamBody,
} from '../../../engine/plugin.ts';

function membersOf(call: ImageCall, vendorModel: string): JsonObject {
  const { n, size, quality, aspectRatio, resolution } = call.settings;
  const members: JsonObject = {
    ...call.extra,
    model: vendorModel,
    prompt: call.prompt,
    n,
    size,
    quality,
    aspect_ratio: aspectRatio,
    resolution,
    stream: call.stream ? true : null,
    // Refused without `stream`.
    partial_images: call.stream ? call.partialImages : null,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** What the gateway could not hand on would be paid for and thrown away. */
function refuseUnknownFormat({ output_format: format }: JsonObject): void {
  if (format !== 'svg') return;
  throw new GatewayError('unsupported_parameter', '`output_format` `svg` is not supported: ask for pixels.', {
    param: 'output_format',
  });
}

function overlaid(members: JsonObject, { set, remove }: ParameterOverrides): JsonObject {
  const kept = Object.entries(members).filter(([name]) => !remove.includes(name));
  return { ...Object.fromEntries(kept), ...set };
}

export function encodeRequest(
  call: ImageCall,
  vendorModel: string,
  overrides: ParameterOverrides | null = null,
): UpstreamBody {
  refuseUnknownFormat(call.extra);
  const members = membersOf(call, vendorModel);
  if (call.operation === 'edit') return encodeForm(overrides === null ? members : overlaid(members, overrides), call);
  return { contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(members))] };
}

/** Field names as HTML forms escape them: nothing can end the header. */
const fieldName = (name: string): string =>
  name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character)).slice(0, 200);

/** The client's name tells a vendor nothing but its ending. */
const fileName = (name: string): string => name.replace(/[^\w.-]/g, '_').slice(-80) || 'image';

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function encodeForm(members: JsonObject, call: ImageCall): UpstreamBody {
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const pieces: Buffer[] = [];
  const open = (headers: string): void => {
    pieces.push(Buffer.from(`${pieces.length === 0 ? '' : '\r\n'}--${boundary}\r\n${headers}\r\n\r\n`));
  };
  const addFile = (field: string, { bytes, mediaType, name }: ImageFile): void => {
    open(`Content-Disposition: form-data; name="${field}"; filename="${fileName(name)}"\r\nContent-Type: ${mediaType}`);
    pieces.push(bytes);
  };
  for (const [name, value] of Object.entries(members)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      open(`Content-Disposition: form-data; name="${fieldName(name)}"`);
      pieces.push(Buffer.from(textOf(item)));
    }
  }
  // OpenAI takes several files only under the list's name.
  const imageField = call.references.length === 1 ? 'image' : 'image[]';
  for (const reference of call.references) addFile(imageField, reference);
  if (call.mask) addFile('mask', call.mask);
  pieces.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, pieces };
}
