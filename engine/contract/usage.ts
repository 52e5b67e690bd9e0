/** What was used and what became of it: the facts that billing counts and the usage log keeps. */

/** Tokens by kind. `input` includes `cachedInput` and `cacheWrite`; `output` includes `reasoning` (as OpenAI counts them). */
export interface TokenUsage {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Everything that a price can be put on (spec section 8). */
export interface Usage extends TokenUsage {
  readonly images: number;
  /** Of audio or video. */
  readonly seconds: number;
  readonly characters: number;
  readonly searchUnits: number;
  /** Parts of `input` and `output`. */
  readonly audioInput: number;
  readonly audioOutput: number;
  /** `measured`: the vendor said so; `estimated`: counted by the gateway because the vendor did not. */
  readonly source: 'measured' | 'estimated';
}

export const noUsage: Usage = Object.freeze({
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searchUnits: 0,
  audioInput: 0,
  audioOutput: 0,
  source: 'measured',
});

/** Of a request that is about tokens and images. Written out: spreading a frozen object costs ten times as much. */
export function usageOf(
  { input, cachedInput, cacheWrite, output, reasoning }: TokenUsage,
  images: number,
  source: Usage['source'],
): Usage {
  return {
    input,
    cachedInput,
    cacheWrite,
    output,
    reasoning,
    images,
    seconds: 0,
    characters: 0,
    searchUnits: 0,
    audioInput: 0,
    audioOutput: 0,
    source,
  };
}

/** Tokens of which nothing more is known than how many went in and came out. */
export const plainTokens = (input: number, output: number): TokenUsage => ({
  input,
  cachedInput: 0,
  cacheWrite: 0,
  output,
  reasoning: 0,
});

/** `accepted`: the work goes on after the reply (a video task), and so does what was held for it. */
export type OutcomeKind = 'ok' | 'error' | 'aborted' | 'accepted';

/** How a request ended; given to `onSettled` exactly once. */
export interface Outcome {
  readonly kind: OutcomeKind;
  /** The HTTP status that the client got or would have got (499 where it left before one was sent). */
  readonly status: number;
  /** Error code of `engine/errors.ts`, null when all went well. */
  readonly code: string | null;
  /** What is to be charged; `noUsage` where nothing is owed. */
  readonly usage: Usage;
}

/** One line of the usage log. Times are ms since 1970, durations ms, `quota` integer units (500000 = 1 USD). */
export interface UsageRow {
  readonly requestId: string;
  readonly time: number;
  readonly userId: number;
  readonly keyId: number;
  readonly endpoint: string;
  readonly model: string;
  readonly group: string;
  readonly multiplier: string;
  readonly channel: string | null;
  readonly attempts: number;
  readonly images: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly quota: number;
  readonly status: number;
  readonly outcome: OutcomeKind;
  readonly code: string | null;
  readonly usageSource: 'measured' | 'estimated';
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  /** The counts from here on are rare: they stand in a row only where one of them is not 0. */
  readonly seconds: number;
  readonly characters: number;
  readonly searchUnits: number;
  readonly audioInputTokens: number;
  readonly audioOutputTokens: number;
}

/** Tokens that count against a rate limit. */
export function totalTokens(usage: TokenUsage): number {
  return usage.input + usage.output;
}
