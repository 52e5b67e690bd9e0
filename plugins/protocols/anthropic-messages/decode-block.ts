/** Content blocks of the user's side in neutral form. */
import {
  arrayAt,
  booleanOrNull,
  type ChatPart,
  type JsonObject,
  type JsonValue,
  objectAt,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';

/** One block may become several parts. `place` names it in an error. */
export function decodeBlock(value: JsonValue, place: string): ChatPart[] {
  const block = objectAt(value, place);
  switch (stringAt(block.type, `${place}.type`)) {
    case 'text':
      return [text(stringAt(block.text, `${place}.text`))];
    case 'image':
      return [decodeImage(objectAt(block.source, `${place}.source`), `${place}.source`)];
    case 'document':
      return decodeDocument(block, place);
    case 'search_result':
      return [decodeSearchResult(block, place)];
    case 'tool_result':
      return [decodeResult(block, place)];
    default:
      throw unsupported(`${place}.type`, 'names a block that this model’s vendor cannot be given.');
  }
}

const text = (said: string): ChatPart => ({ type: 'text', text: said });

function decodeBlocks(content: JsonValue | undefined, place: string): ChatPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [text(content)];
  return arrayAt(content, place).flatMap((block, index) => decodeBlock(block, `${place}[${index}]`));
}

function decodeImage(source: JsonObject, place: string): ChatPart {
  const image = { type: 'image', mediaType: null, data: null, url: null } as const;
  switch (source.type) {
    case 'base64':
      return {
        ...image,
        mediaType: stringOrNull(source.media_type, `${place}.media_type`),
        data: stringAt(source.data, `${place}.data`),
      };
    case 'url':
      return { ...image, url: stringAt(source.url, `${place}.url`) };
    default:
      throw unsupported(`${place}.type`, 'must be `base64` or `url` for this model: a file lies at one vendor only.');
  }
}

/** Plain text is said as text: hardly any vendor takes it as a file. */
function decodeDocument(block: JsonObject, place: string): ChatPart[] {
  const at = `${place}.source`;
  const source = objectAt(block.source, at);
  const name = stringOrNull(block.title, `${place}.title`);
  const context = stringOrNull(block.context, `${place}.context`);
  const file = { type: 'file', mediaType: null, name, data: null, url: null, id: null } as const;
  const about = context === null ? [] : [text(context)];
  const titled = name === null ? about : [text(name), ...about];
  switch (source.type) {
    case 'base64': {
      const mediaType = stringOrNull(source.media_type, `${at}.media_type`) ?? 'application/pdf';
      return [...about, { ...file, mediaType, data: stringAt(source.data, `${at}.data`) }];
    }
    case 'url':
      return [...about, { ...file, mediaType: 'application/pdf', url: stringAt(source.url, `${at}.url`) }];
    case 'text':
      return [...titled, text(stringAt(source.data, `${at}.data`))];
    case 'content':
      return [...titled, ...decodeBlocks(source.content, `${at}.content`)];
    default:
      throw unsupported(`${at}.type`, 'is not supported by this model: a file lies at one vendor only.');
  }
}

function decodeSearchResult(block: JsonObject, place: string): ChatPart {
  const head = [stringAt(block.title, `${place}.title`), stringAt(block.source, `${place}.source`)];
  const found = arrayAt(block.content, `${place}.content`).map((one, index) =>
    stringAt(objectAt(one, `${place}.content[${index}]`).text, `${place}.content[${index}].text`),
  );
  return text([...head, ...found].join('\n'));
}

function decodeResult(block: JsonObject, place: string): ChatPart {
  return {
    type: 'tool-result',
    id: stringAt(block.tool_use_id, `${place}.tool_use_id`),
    parts: decodeBlocks(block.content, `${place}.content`),
    error: booleanOrNull(block.is_error, `${place}.is_error`) ?? false,
  };
}
