import {
  answerObject,
  GatewayError,
  type ImageResult,
  imageOfBase64,
  isLiftedObject,
  type JsonValue,
  type LiftedObject,
  type LiftedValue,
  liftAnswer,
  liftedBytes,
  liftedText,
  plainError,
  type ResultImage,
  unusableAnswer,
  type VendorError,
} from '../../../engine/plugin.ts';

/** Null where the item was withheld: marked so, or with neither link nor bytes in it. */
function imageOf(item: LiftedValue): ResultImage | null {
  if (!isLiftedObject(item) || item.respect_moderation === false) return null;
  const mediaType = liftedText(item.mime_type, 60);
  const revisedPrompt = liftedText(item.revised_prompt, 32_000) || null;
  const base64 = liftedBytes(item.b64_json);
  if (base64 !== null && base64.length > 0) return imageOfBase64(base64, mediaType, revisedPrompt);
  const url = liftedText(item.url, 8192);
  if (!url) return null;
  if (url.startsWith('data:')) return imageOfBase64(liftedBytes(item.url)!, mediaType, revisedPrompt);
  return { source: { kind: 'url', url }, mediaType, revisedPrompt };
}

/** xAI counts money, not tokens: there is no usage to hand on. */
export function decodeReply(body: Buffer): ImageResult {
  const value = answerObject(liftAnswer(body));
  const hidden = errorOf(value);
  if (hidden) throw isModeration(hidden.message) ? refused() : unusableAnswer('an error within a 200');
  const items = Array.isArray(value.data) ? value.data : [];
  if (items.length === 0) throw new GatewayError('upstream_no_image');
  const images = items.map(imageOf).filter((image) => image !== null);
  if (images.length === 0) throw refused();
  return { created: null, images, usage: null, extra: {}, refused: items.length - images.length };
}

const refused = (): GatewayError =>
  new GatewayError('moderation_blocked', 'The image was refused by the vendor’s content moderation.');

const isModeration = (message: string): boolean => /moderation|usage guidelines/i.test(message);

/** The three shapes: a code and a text, an error object, a text alone. */
function errorOf(value: LiftedObject): VendorError | null {
  const { error } = value;
  const text = liftedText(error, 1000);
  const code = liftedText(value.code, 200);
  if (text) return { ...plainError(text), code };
  if (!isLiftedObject(error)) return null;
  return {
    message: liftedText(error.message, 1000) ?? 'The vendor reported an error.',
    code: liftedText(error.code, 200),
    type: liftedText(error.type, 100),
    param: liftedText(error.param, 100),
    retryAfter: null,
  };
}

export function decodeError(body: JsonValue): VendorError | null {
  const value = Array.isArray(body) ? body[0] : body;
  if (typeof value === 'string') return plainError(value.slice(0, 1000));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? errorOf(value) : null;
}
