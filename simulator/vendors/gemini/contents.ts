import type { GenerationConfig } from './config.ts';

export interface Part {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType?: string; readonly data?: string };
  readonly fileData?: { readonly mimeType?: string; readonly fileUri?: string };
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: unknown };
  readonly functionResponse?: { readonly id?: string; readonly name?: string; readonly response?: unknown };
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
}

export interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

export interface FunctionDeclaration {
  readonly name?: string;
  readonly parameters?: unknown;
  readonly parametersJsonSchema?: unknown;
}

/** A checked request; names are lowerCamelCase. */
export interface GenerateRequest {
  readonly contents: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly { readonly functionDeclarations?: readonly FunctionDeclaration[] }[];
  readonly toolConfig?: {
    readonly functionCallingConfig?: { readonly mode?: string; readonly allowedFunctionNames?: readonly string[] };
  };
  readonly safetySettings?: readonly { readonly category?: string }[];
  readonly generationConfig: GenerationConfig;
  readonly cachedContent?: string;
}

/** Text of all parts that are no thoughts. */
export function textOf(contents: readonly Content[]): string {
  const texts = contents.flatMap(({ parts = [] }) =>
    parts.filter(({ thought }) => !thought).map(({ text = '' }) => text),
  );
  return texts.filter((text) => text !== '').join('\n');
}

const speaks = ({ role = 'user', parts = [] }: Content): boolean => role === 'user' && parts.some(({ text }) => text);

export function lastUserText(contents: readonly Content[]): string {
  const last = contents.findLast(speaks);
  return last ? textOf([last]) : '';
}

/** Turns of calls since the user last spoke. */
export function roundsSoFar(contents: readonly Content[]): number {
  const since = contents.slice(contents.findLastIndex(speaks) + 1);
  return since.filter(({ parts = [] }) => parts.some(({ functionCall }) => functionCall)).length;
}

export function inputImages(contents: readonly Content[]): Part[] {
  return contents.flatMap(({ parts = [] }) =>
    parts.filter((part) => part.fileData || part.inlineData?.mimeType?.startsWith('image/')),
  );
}
