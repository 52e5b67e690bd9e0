/**
 * Images asked for on the native route, by the clients of models that draw: the last user content is the prompt, its
 * pictures are the references. Without any the picture of the answer before is drawn on.
 */
import {
  type ChatCall,
  type ChatImages,
  type ClientImageEvent,
  type DeliveredImage,
  drawnCall,
  GatewayError,
  googleError,
  type ImageWriter,
  type InlineImage,
  type JsonObject,
  type JsonValue,
  optionalCount,
  type Pieces,
  stringOrNull,
  type TokenUsage,
  unsupported,
  writeGoogleUsage,
} from '../../../engine/plugin.ts';
import { decodePart } from './decode-part.ts';
import { headOf } from './encode-answer.ts';
import { listOf, messageAt, optionalMessage } from './fields.ts';
import { createFrames, formOf } from './frames.ts';

export const images: ChatImages<ChatCall> = { readCall, writer };

function readCall({ model, stream, body }: ChatCall, edits: boolean) {
  const { contents, systemInstruction, generationConfig } = messageAt(body, 'body');
  const config = optionalMessage(generationConfig, 'generationConfig');
  const { prompt, references } = readContents(listOf(contents), edits);
  const { parts } = optionalMessage(systemInstruction, 'systemInstruction');
  const system = listOf(parts).flatMap((part, index) => readPart(part, `systemInstruction.parts[${index}]`).text);
  return drawnCall({
    model,
    prompt: [...system, ...prompt].join('\n'),
    references,
    stream,
    responseFormat: 'b64_json',
    fields: fieldsOf(config),
  });
}

interface Read {
  readonly text: string[];
  readonly images: InlineImage[];
}

function readContents(contents: readonly JsonValue[], edits: boolean) {
  const read = contents.map((content, index) => messageAt(content, `contents[${index}]`));
  const at = read.findLastIndex(({ role }) => role !== 'model');
  const asked = readContent(read[at], at);
  if (asked.text.join('').trim() === '')
    throw new GatewayError('invalid_value', '`contents` must say in its last turn what to draw.', {
      param: 'contents',
    });
  if (asked.images.length > 0 || !edits) return { prompt: asked.text, references: asked.images };
  const drawn = read.findLastIndex(({ role }, index) => role === 'model' && index < at);
  return { prompt: asked.text, references: readContent(read[drawn], drawn).images };
}

function readContent(content: JsonObject | undefined, index: number): Read {
  const parts = listOf(content?.parts).map((part, at) => readPart(part, `contents[${index}].parts[${at}]`));
  return { text: parts.flatMap(({ text }) => text), images: parts.flatMap((part) => part.images) };
}

/** Thoughts, interim pictures among them, are no part of what was said. */
function readPart(value: JsonValue, place: string): Read {
  const message = messageAt(value, place);
  const read: Read = { text: [], images: [] };
  for (const part of message.thought === true ? [] : decodePart(message, place)) {
    if (part.type === 'text') read.text.push(part.text);
    else if (part.type === 'image' && part.data !== null)
      read.images.push({ data: part.data, mediaType: part.mediaType, param: place });
    else if (part.type !== 'reasoning')
      throw unsupported(place, 'must be a text or an image in `inlineData` for a model that draws.');
  }
  return read;
}

function fieldsOf(config: JsonObject) {
  const place = 'generationConfig.imageConfig';
  const { aspectRatio, imageSize } = optionalMessage(config.imageConfig, place);
  return {
    n: optionalCount(config, 'candidateCount', 1),
    aspect_ratio: stringOrNull(aspectRatio, `${place}.aspectRatio`),
    image_size: stringOrNull(imageSize, `${place}.imageSize`),
  };
}

function usageOf(usage: TokenUsage | null): JsonObject {
  if (usage === null) return {};
  const candidatesTokensDetails = [{ modality: 'IMAGE', tokenCount: usage.output - usage.reasoning }];
  return { usageMetadata: { ...writeGoogleUsage(usage), candidatesTokensDetails } };
}

/** Base64 of megabytes stays a piece of its own. */
function candidate({ base64, mediaType }: DeliveredImage, index: number): Pieces {
  const type = JSON.stringify(mediaType);
  return [
    Buffer.from(`{"content":{"parts":[{"inlineData":{"mimeType":${type},"data":"`),
    base64 ?? Buffer.alloc(0),
    Buffer.from(`"}}],"role":"model"},"finishReason":"STOP","index":${index}}`),
  ];
}

/** One candidate an image; in a stream each comes in a frame of its own. */
function writer(call: ChatCall): ImageWriter {
  const head = headOf(null, call);
  const frames = createFrames(call);
  let count = 0;
  const answer = (candidates: readonly Pieces[], usage: TokenUsage | null): Pieces => {
    const separated = candidates.flatMap((pieces, index) => (index === 0 ? pieces : [Buffer.from(','), ...pieces]));
    const rest = JSON.stringify({ ...usageOf(usage), ...head }).slice(1);
    return [Buffer.from('{"candidates":['), ...separated, Buffer.from(`],${rest}`)];
  };
  const encodeEvent = (event: ClientImageEvent): Pieces => {
    // Gemini shows interim pictures only as thoughts, and only its own.
    if (event.type === 'partial') return [];
    const pieces = answer([candidate(event.image, count++)], event.usage);
    const [before, after] = frames.frame('\0').split('\0');
    return [Buffer.from(before!), ...pieces, Buffer.from(after!)];
  };
  return {
    encodeResult: (delivered, result) => answer(delivered.map(candidate), result.usage),
    encodeEvent,
    get terminator() {
      return frames.end();
    },
    stream: formOf(call),
    encodeError: googleError,
    encodeStreamError: (error, requestId) => frames.frame(JSON.stringify(googleError(error, requestId))) + frames.end(),
  };
}
