/**
 * Images asked for in a conversation, by clients that know no image route: the last user message is the prompt, its
 * pictures are the references, else those of the answer before. The answer holds each picture as Markdown and in `images`, where clients of drawing chat
 * models look for it.
 */
import {
  arrayAt,
  type ChatCall,
  type ChatImages,
  type ClientImageEvent,
  type DeliveredImage,
  drawingAskedIn,
  drawnCall,
  GatewayError,
  type ImageResult,
  type InlineImage,
  isObject,
  type JsonObject,
  type JsonValue,
  openAiError,
  openAiStreamError,
  optionalCount,
  present,
  readDataUrl,
  replyHead,
  stringOrNull,
  writeOpenAiUsage,
} from '../../../engine/plugin.ts';
import { decodeMessage } from './decode-message.ts';

export const images: ChatImages<ChatCall> = { readCall, writer };

function readCall({ model, stream, body }: ChatCall, edits: boolean) {
  const messages = arrayAt(body.messages, 'messages');
  const at = messages.findLastIndex((message) => isObject(message) && message.role === 'user');
  const last = messages[at];
  if (last === undefined)
    throw new GatewayError('invalid_value', '`messages` needs a user message that says what to draw.', {
      param: 'messages',
    });
  return drawnCall({
    model,
    ...drawingAskedIn(decodeMessage(last, at).parts, `messages[${at}].content`, edits ? drawnBefore(messages, at) : []),
    stream,
    responseFormat: 'url',
    fields: fieldsOf(body),
  });
}

/** As the answers here are written. What is only linked to is not fetched. */
function drawnBefore(messages: readonly JsonValue[], end: number): InlineImage[] {
  const at = messages.findLastIndex((one, index) => index < end && isObject(one) && one.role === 'assistant');
  const message = messages[at];
  if (!isObject(message)) return [];
  const { images: shown, content } = message;
  const urls = Array.isArray(shown) && shown.length > 0 ? shown.map(urlIn) : urlsIn(content);
  return urls.flatMap((url) => {
    const inline = readDataUrl(url, `messages[${at}]`);
    return inline === null ? [] : [{ ...inline, param: `messages[${at}]` }];
  });
}

function urlIn(image: JsonValue): string {
  const { url } = isObject(image) && isObject(image.image_url) ? image.image_url : {};
  return typeof url === 'string' ? url : '';
}

const picture = /!\[[^\]]{0,200}\]\((data:image\/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]+)\)/g;

/** Of pictures in Markdown. */
const urlsIn = (content: JsonValue | undefined): string[] =>
  typeof content === 'string' ? [...content.matchAll(picture)].map(([, url]) => url!) : [];

/** The fields of the image routes (spec 2.1), and `image_config`, where clients of drawing chat models write them. */
function fieldsOf(body: JsonObject) {
  const config = isObject(body.image_config) ? body.image_config : {};
  const text = (name: string) => stringOrNull(body[name], name) ?? stringOrNull(config[name], `image_config.${name}`);
  return {
    n: optionalCount(body, 'n', 1),
    size: text('size'),
    aspect_ratio: text('aspect_ratio'),
    resolution: text('resolution'),
    image_size: text('image_size'),
    quality: text('quality'),
  };
}

const urlOf = ({ url, base64, mediaType }: DeliveredImage): string =>
  url ?? `data:${mediaType};base64,${base64?.toString('latin1') ?? ''}`;

const messageOf = (delivered: readonly DeliveredImage[]): { content: string; images: JsonObject[] } => {
  const urls = delivered.map(urlOf);
  return {
    content: urls.map((url) => `![image](${url})`).join('\n\n'),
    images: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
  };
};

const usageOf = ({ usage }: Pick<ImageResult, 'usage'>): JsonObject =>
  usage === null ? {} : { usage: writeOpenAiUsage(usage) };

function writer(call: ChatCall): ReturnType<ChatImages<ChatCall>['writer']> {
  const head = replyHead(null, call, 'chatcmpl-');
  let begun = false;
  const chunk = (delta: JsonObject, reason: string | null, rest: JsonObject = {}): string => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }];
    return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...rest })}\n\n`;
  };
  const events = (event: ClientImageEvent): string => {
    // Chat has no place for a picture that is not finished.
    if (event.type === 'partial') return '';
    const role = begun ? {} : { role: 'assistant' };
    const { content, images: shown } = messageOf([event.image]);
    const separated = begun ? `\n\n${content}` : content;
    begun = true;
    const usage = call.wantsUsage ? usageOf(event) : {};
    return chunk({ ...role, content: separated, images: shown }, null, usage);
  };
  return {
    encodeResult(delivered, result) {
      const message = { role: 'assistant', ...messageOf(delivered), refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
      return [
        Buffer.from(JSON.stringify(present({ ...head, object: 'chat.completion', choices, ...usageOf(result) }))),
      ];
    },
    encodeEvent: (event) => [Buffer.from(events(event))],
    get terminator() {
      return `${chunk({}, 'stop')}data: [DONE]\n\n`;
    },
    encodeError: openAiError,
    encodeStreamError: openAiStreamError,
  };
}
