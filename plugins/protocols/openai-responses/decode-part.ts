/** Content of messages and tool outputs in neutral form. */
import {
  type ChatPart,
  fileContent,
  GatewayError,
  imageByUrl,
  invalidType,
  type JsonObject,
  type JsonValue,
  objectAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';

/** A string or parts. */
export function decodeContent(content: JsonValue | undefined, place: string): ChatPart[] {
  if (content === undefined || content === null)
    throw new GatewayError('missing_required_parameter', `\`${place}\` is required.`, { param: place });
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalidType(place, 'a string or an array of parts');
  return content.map((part, index) => decodePart(part, `${place}[${index}]`));
}

function decodePart(value: JsonValue, place: string): ChatPart {
  const part = objectAt(value, place);
  const type = stringAt(part.type, `${place}.type`);
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: stringAt(part.text, `${place}.text`) };
    case 'refusal':
      return { type: 'refusal', text: stringAt(part.refusal, `${place}.refusal`) };
    case 'input_image':
      return decodeImage(part, place);
    case 'input_file':
      return decodeFile(part, place);
    default:
      throw unsupported(`${place}.type`, 'is not supported by this model.');
  }
}

function decodeImage(part: JsonObject, place: string): ChatPart {
  const url = stringOrNull(part.image_url, `${place}.image_url`);
  if (url === null)
    throw unsupported(`${place}.file_id`, 'cannot be carried to this model’s vendor: send `image_url`.');
  return imageByUrl(url, `${place}.image_url`, stringOrNull(part.detail, `${place}.detail`));
}

function decodeFile(part: JsonObject, place: string): ChatPart {
  const id = stringOrNull(part.file_id, `${place}.file_id`);
  const url = stringOrNull(part.file_url, `${place}.file_url`);
  const content = stringOrNull(part.file_data, `${place}.file_data`);
  if (id === null && url === null && content === null)
    throw new GatewayError(
      'missing_required_parameter',
      `\`${place}\` needs \`file_data\`, \`file_url\` or \`file_id\`.`,
      { param: place },
    );
  const name = stringOrNull(part.filename, `${place}.filename`);
  return { type: 'file', ...fileContent(content, `${place}.file_data`), name, url, id };
}
