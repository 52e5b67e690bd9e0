/** One content part in neutral form. */
import {
  type ChatPart,
  fileContent,
  GatewayError,
  imageByUrl,
  type JsonValue,
  objectAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';

const audioTypes: Readonly<Record<string, string>> = { mp3: 'audio/mpeg' };

export function decodePart(value: JsonValue, place: string): ChatPart {
  const part = objectAt(value, place);
  switch (stringAt(part.type, `${place}.type`)) {
    case 'text':
      return { type: 'text', text: stringAt(part.text, `${place}.text`) };
    case 'refusal':
      return { type: 'refusal', text: stringAt(part.refusal, `${place}.refusal`) };
    case 'image_url':
      return decodeImage(part.image_url, `${place}.image_url`);
    case 'input_audio':
      return decodeAudio(part.input_audio, `${place}.input_audio`);
    case 'file':
      return decodeFile(part.file, `${place}.file`);
    default:
      throw unsupported(`${place}.type`, 'is not supported by this model.');
  }
}

/** Some clients write the URL itself where the object belongs. */
function decodeImage(value: JsonValue | undefined, place: string): ChatPart {
  const image = typeof value === 'string' ? { url: value } : objectAt(value, place);
  const url = stringAt(image.url, `${place}.url`);
  return imageByUrl(url, `${place}.url`, stringOrNull(image.detail, `${place}.detail`));
}

function decodeAudio(value: JsonValue | undefined, place: string): ChatPart {
  const audio = objectAt(value, place);
  const format = stringAt(audio.format, `${place}.format`);
  const mediaType = Object.hasOwn(audioTypes, format) ? audioTypes[format]! : `audio/${format}`;
  return { type: 'audio', mediaType, data: stringAt(audio.data, `${place}.data`) };
}

function decodeFile(value: JsonValue | undefined, place: string): ChatPart {
  const file = objectAt(value, place);
  const id = stringOrNull(file.file_id, `${place}.file_id`);
  const name = stringOrNull(file.filename, `${place}.filename`);
  const content = stringOrNull(file.file_data, `${place}.file_data`);
  if (id === null && content === null) {
    throw new GatewayError('missing_required_parameter', `\`${place}\` needs \`file_id\` or \`file_data\`.`, {
      param: place,
    });
  }
  return { type: 'file', ...fileContent(content, `${place}.file_data`), name, url: null, id };
}
