import { jsonAnswer } from '../../answers.ts';
import type { Answer } from '../../contract.ts';

/** Of every JSON answer of Google's, streamed arrays too. */
export const JSON_TYPE = 'application/json; charset=UTF-8';

export function geminiAnswer(status: number, value: unknown, images: readonly Buffer[] = []): Answer {
  return jsonAnswer(status, value, { 'content-type': JSON_TYPE }, images);
}
