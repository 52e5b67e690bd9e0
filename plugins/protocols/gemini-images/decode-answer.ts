import {
  answerObject,
  countGoogleUsage,
  countOf,
  GatewayError,
  googleRefusals,
  type ImageResult,
  isLiftedObject,
  type JsonObject,
  type LiftedObject,
  type LiftedValue,
  liftAnswer,
  liftedBytes,
  liftedText,
  type ResultImage,
  type TokenUsage,
  unusableAnswer,
} from '../../../engine/plugin.ts';

function parse(body: Buffer): LiftedObject {
  const value = liftAnswer(body);
  // Without server-sent events Gemini's list routes wrap their answer; one element is all there is.
  return answerObject(Array.isArray(value) ? value[0] : value);
}

const objects = (value: LiftedValue | undefined): LiftedObject[] =>
  Array.isArray(value) ? value.filter(isLiftedObject) : [];

/** Interim images are marked as thoughts; the last of the others is the picture. */
function finalImage(parts: readonly LiftedObject[]): ResultImage | null {
  for (const part of parts.toReversed()) {
    if (part.thought === true || !isLiftedObject(part.inlineData)) continue;
    const base64 = liftedBytes(part.inlineData.data);
    if (base64 === null || base64.length === 0) continue;
    const mediaType = liftedText(part.inlineData.mimeType, 60);
    return { source: { kind: 'base64', base64 }, mediaType, revisedPrompt: null };
  }
  return null;
}

function refused(reason: string): GatewayError {
  return new GatewayError('moderation_blocked', `The request was refused by the vendor’s safety system (${reason}).`);
}

/** Answered, not refused, and still no image: what the model said instead may tell why. */
function noImage(reason: string, parts: readonly LiftedObject[]): GatewayError {
  const words = parts.flatMap((part) => (part.thought === true ? [] : [liftedText(part.text, 300) ?? '']));
  const said = words.join(' ').replace(/\s+/g, ' ').trim().slice(0, 300);
  const why = said === '' ? '' : ` It said: ${said}`;
  const message = `The vendor answered without an image (${reason || 'no reason given'}). Nothing was charged.${why}`;
  return new GatewayError('upstream_no_image', message);
}

export function decodeReply(body: Buffer): ImageResult {
  const value = parse(body);
  if (isLiftedObject(value.error)) throw unusableAnswer('an error within a 200');
  const blocked = isLiftedObject(value.promptFeedback) ? liftedText(value.promptFeedback.blockReason, 60) : null;
  if (blocked) throw refused(blocked);
  const [candidate] = objects(value.candidates);
  const reason = liftedText(candidate?.finishReason, 60) ?? '';
  if (googleRefusals.has(reason)) throw refused(reason);
  const parts = isLiftedObject(candidate?.content) ? objects(candidate.content.parts) : [];
  const image = finalImage(parts);
  if (image === null) throw noImage(reason, parts);
  const metadata = isLiftedObject(value.usageMetadata) ? value.usageMetadata : null;
  const usage = metadata && countGoogleUsage(metadata);
  const extra = metadata && usage ? { usage: usageObject(metadata, usage) } : {};
  return { created: null, images: [image], usage, extra, refused: 0 };
}

/** The usage object of the OpenAI format, with the share of images in the input. */
function usageObject(metadata: LiftedObject, { input, output }: TokenUsage): JsonObject {
  const images = objects(metadata.promptTokensDetails).find(({ modality }) => modality === 'IMAGE');
  const imageTokens = Math.min(countOf(images?.tokenCount), input);
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: input - imageTokens, image_tokens: imageTokens },
  };
}
