import type { Part } from './contents.ts';

export type AnswerPart = Part | Record<string, unknown>;

/** What a model made: one list of parts per stream element, at least one element. */
export interface Production {
  readonly fragments: readonly (readonly AnswerPart[])[];
  /** Stand in for image slots of a whole answer. */
  readonly images: readonly Buffer[];
  /** Serializes one stream element, image slots included. */
  readonly render: (value: unknown) => string;
  readonly finish: string;
  readonly tokens: number;
  readonly thoughts: number;
  readonly cached: number;
  readonly modality: 'TEXT' | 'IMAGE';
  readonly candidates: number;
  readonly delay: number;
}

/** Neighbouring text parts of a stream are one part of a whole answer; a signature that comes last is kept. */
export function joinParts(parts: readonly AnswerPart[]): AnswerPart[] {
  const joined: AnswerPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const bothText = typeof part.text === 'string' && typeof last?.text === 'string' && part.thought === last.thought;
    if (bothText) joined[joined.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` };
    else joined.push(part);
  }
  return joined;
}
