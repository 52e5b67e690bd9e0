import { countTokens } from '../../reply-text.ts';
import { type Content, type GenerateRequest, textOf } from './contents.ts';
import { countMedia, type Modality } from './media.ts';

/** A flat sum a part, whatever its size. */
const PER_PART: Partial<Record<Modality, number>> = { IMAGE: 258, DOCUMENT: 258, VIDEO: 258, AUDIO: 32, TEXT: 32 };

/** What a prompt costs. */
export interface Prompt {
  readonly total: number;
  readonly details: { readonly modality: Modality; readonly tokenCount: number }[];
}

/** One token per four characters of text, of declarations, of calls and their results; media by the part. */
export function promptTokens(request: Pick<GenerateRequest, 'contents' | 'systemInstruction' | 'tools'>): Prompt {
  const { contents, systemInstruction, tools } = request;
  const system = systemInstruction ? [systemInstruction] : [];
  const { TEXT: texts = 0, ...media } = countMedia(contents);
  const declared = tools ? countTokens(JSON.stringify(tools)) : 0;
  const text = countTokens(textOf([...system, ...contents])) + exchanged(contents) + declared + texts * PER_PART.TEXT!;
  const details = Object.entries(media).map(([name, count]) => {
    const modality = name as Modality;
    return { modality, tokenCount: count * PER_PART[modality]! };
  });
  const total = details.reduce((sum, { tokenCount }) => sum + tokenCount, text);
  return { total, details: [{ modality: 'TEXT', tokenCount: text }, ...details] };
}

/** Calls and results. */
function exchanged(contents: readonly Content[]): number {
  const parts = contents.flatMap(({ parts = [] }) => parts);
  return parts.reduce((sum, { functionCall, functionResponse }) => {
    const value = functionCall ?? functionResponse;
    return value ? sum + countTokens(JSON.stringify(value)) : sum;
  }, 0);
}
