/** A vendor's answer: whole, in events, or an error. Tolerant of what vendors that are merely alike send. */
import {
  answerObject,
  countOf,
  credibleUsage,
  GatewayError,
  type ImageEvent,
  type ImageResult,
  imageOfBase64,
  isJsonSafe,
  isLiftedObject,
  type JsonObject,
  type JsonValue,
  type LiftedObject,
  type LiftedValue,
  liftAnswer,
  liftedBytes,
  liftedText,
  plainError,
  type ResultImage,
  type SseFrame,
  type TokenUsage,
  unusableAnswer,
  type VendorError,
} from '../../../engine/plugin.ts';

function imageOf(item: LiftedValue | undefined, mediaType: string | null): ResultImage | null {
  if (!isLiftedObject(item)) return null;
  const revisedPrompt = liftedText(item.revised_prompt, 32_000);
  const base64 = liftedBytes(item.b64_json);
  if (base64 !== null && base64.length > 0) return imageOfBase64(base64, mediaType, revisedPrompt);
  const url = liftedText(item.url, 8192);
  if (!url) return null;
  if (url.startsWith('data:')) return imageOfBase64(liftedBytes(item.url)!, mediaType, revisedPrompt);
  return { source: { kind: 'url', url }, mediaType, revisedPrompt };
}

const mediaTypeOf = (value: LiftedObject): string | null => {
  const format = liftedText(value.output_format, 20);
  return format ? `image/${format}` : null;
};

/** Token counts with their details, for a client of the same format; nothing the vendor wrote passes unread. */
function usageObject(usage: LiftedObject): JsonObject {
  const details = isLiftedObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const input = countOf(usage.input_tokens);
  const output = countOf(usage.output_tokens);
  return {
    total_tokens: countOf(usage.total_tokens) || input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: {
      text_tokens: countOf(details.text_tokens),
      image_tokens: countOf(details.image_tokens),
    },
  };
}

function tokensOf(usage: LiftedObject): TokenUsage | null {
  const details = isLiftedObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  return credibleUsage({
    input: countOf(usage.input_tokens),
    cachedInput: countOf(details.cached_tokens),
    cacheWrite: 0,
    output: countOf(usage.output_tokens),
    reasoning: 0,
  });
}

/** The short members worth keeping. */
function extraOf(value: LiftedObject): JsonObject {
  const kept: [string, JsonValue][] = ['size', 'quality', 'background', 'output_format'].flatMap((name) => {
    const text = liftedText(value[name], 40);
    return text === null ? [] : [[name, text] as [string, JsonValue]];
  });
  if (isLiftedObject(value.usage)) kept.push(['usage', usageObject(value.usage)]);
  if (countOf(value.created_at) > 0) kept.push(['created_at', countOf(value.created_at)]);
  return Object.fromEntries(kept);
}

const usageOf = (value: LiftedObject): TokenUsage | null =>
  isLiftedObject(value.usage) ? tokensOf(value.usage) : null;

export function decodeReply(body: Buffer): ImageResult {
  const value = answerObject(liftAnswer(body));
  const hidden = errorOf(value);
  if (hidden) throw asGatewayError(hidden);
  const items = Array.isArray(value.data) ? value.data : [];
  const images = items.map((item) => imageOf(item, mediaTypeOf(value))).filter((image) => image !== null);
  if (images.length === 0) throw new GatewayError('upstream_no_image');
  const created = countOf(value.created) || null;
  return { created, images, usage: usageOf(value), extra: extraOf(value), refused: 0 };
}

/** Codes and words of a refusal for safety. */
const isModeration = ({ code, message }: VendorError): boolean =>
  code === 'moderation_blocked' || code === 'content_policy_violation' || /safety system/i.test(message);

/** A 200 that holds an error. */
function asGatewayError(error: VendorError): GatewayError {
  return isModeration(error)
    ? new GatewayError('moderation_blocked', error.message)
    : unusableAnswer('an error within a 200');
}

export function decodeStream(): (frame: SseFrame) => ImageEvent[] {
  return ({ event, data }) => {
    if (data.trim() === '[DONE]' || data.trim() === '' || event === 'done') return [];
    const value = answerObject(liftAnswer(Buffer.from(data)));
    const error = errorOf(value);
    if (error) return [{ type: 'error', error }];
    const type = liftedText(value.type, 80) ?? event ?? '';
    if (type.endsWith('.partial_image')) return [partialOf(value)];
    if (type.endsWith('.completed') || type.endsWith('.partial_succeeded')) return completedOf(value);
    if (type === 'error' || event === 'error') return [{ type: 'error', error: unnamedError(value) }];
    return [];
  };
}

function partialOf(value: LiftedObject): ImageEvent {
  const base64 = liftedBytes(value.b64_json);
  if (base64 === null || base64.length === 0 || !isJsonSafe(base64)) throw unusableAnswer('a preview without an image');
  return { type: 'partial', base64, index: countOf(value.partial_image_index), extra: extraOf(value) };
}

/** The image stands in the event itself, or in a list as in a whole answer. */
function completedOf(value: LiftedObject): ImageEvent[] {
  const items = Array.isArray(value.data) ? value.data : [value];
  const images = items.map((item) => imageOf(item, mediaTypeOf(value))).filter((image) => image !== null);
  return images.map((image) => ({ type: 'completed', image, usage: usageOf(value), extra: extraOf(value) }));
}

function unnamedError(value: LiftedObject): VendorError {
  const message = liftedText(value.message, 1000) ?? 'The vendor reported an error.';
  return { ...plainError(message), code: liftedText(value.code, 100) };
}

/** The `error` member: an object, or just a text. */
function errorOf(value: LiftedObject): VendorError | null {
  const { error } = value;
  const text = liftedText(error, 1000);
  if (text) return { ...plainError(text), code: liftedText(value.code, 100) };
  if (!isLiftedObject(error)) return null;
  return {
    ...unnamedError(error),
    type: liftedText(error.type, 100),
    param: liftedText(error.param, 100),
  };
}

/** An error body; some vendors wrap it in a list. */
export function decodeError(body: JsonValue): VendorError | null {
  const value = Array.isArray(body) ? body[0] : body;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? errorOf(value) : null;
}
