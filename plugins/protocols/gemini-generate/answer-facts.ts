/** What an answer, or a piece of one, tells the gateway. */
import { isObject, type JsonObject, type JsonValue, readGoogleUsage, type TokenUsage } from '../../../engine/plugin.ts';

export const objectsIn = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export const partsIn = ({ content }: JsonObject): JsonObject[] => (isObject(content) ? objectsIn(content.parts) : []);

const allParts = ({ candidates }: JsonObject): JsonObject[] => objectsIn(candidates).flatMap(partsIn);

/** Why the prompt was blocked; '' where it was not. */
export function blockReason({ promptFeedback }: JsonObject): string {
  const reason = isObject(promptFeedback) ? promptFeedback.blockReason : undefined;
  return typeof reason === 'string' ? reason : '';
}

export const hasAnswer = (answer: JsonObject): boolean =>
  objectsIn(answer.candidates).length > 0 || blockReason(answer) !== '';

/** A candidate has ended, or there will be none. */
export const isFinal = (answer: JsonObject): boolean =>
  blockReason(answer) !== '' || objectsIn(answer.candidates).some(({ finishReason }) => Boolean(finishReason));

/** Before the end some pieces count the prompt alone: an answer that breaks off there is estimated. */
export function usageIn(answer: JsonObject): TokenUsage | null {
  const { usageMetadata } = answer;
  if (!isObject(usageMetadata)) return null;
  const counts = usageMetadata.candidatesTokenCount !== undefined || usageMetadata.thoughtsTokenCount !== undefined;
  return counts || isFinal(answer) ? readGoogleUsage(usageMetadata) : null;
}

/** Interim pictures are marked as thoughts: they do not count. */
export const imagesIn = (answer: JsonObject): number =>
  allParts(answer).filter(
    ({ inlineData, thought }) =>
      thought !== true && isObject(inlineData) && String(inlineData.mimeType).startsWith('image/'),
  ).length;

/** Four characters are about one token. */
export function estimateIn(answer: JsonObject): number {
  const lengths = allParts(answer).map(({ text, functionCall }) =>
    typeof text === 'string' ? text.length : isObject(functionCall) ? JSON.stringify(functionCall).length : 0,
  );
  return Math.ceil(lengths.reduce((sum, length) => sum + length, 0) / 4);
}
