/** What a chat conversation may hold: the rows of docs/protocols.md. Each protocol says what becomes of each. */

export const requestFeatures = {
  'system-text': 'System text',
  'system-later': 'System text after the first turn',
  turns: 'Several turns',
  'image-data': 'Images as Base64',
  'image-url': 'Images by URL',
  'file-data': 'Files (PDF) as Base64',
  'file-url': 'Files by URL',
  audio: 'Audio',
  'drawn-before': 'On models that draw: a picture of the answer before, to go on with',
  tools: 'Function tools',
  'custom-tools': 'Tools that take plain text',
  'vendor-tools': 'Tools that run at the vendor (web search, code)',
  'tool-names': 'Names of tools that not every vendor takes',
  'tool-calls': 'Tool calls of earlier turns, parallel too',
  'tool-results': 'Tool results',
  'tool-result-images': 'Images in tool results',
  'tool-result-errors': 'Tool results marked as errors',
  'tool-choice': 'Tool choice: auto, none, required, one tool',
  'parallel-off': 'No parallel tool calls',
  reasoning: 'Reasoning effort',
  'reasoning-budget': 'Reasoning budget in tokens',
  'reasoning-signed': 'Signed thoughts of earlier turns',
  'structured-output': 'Output after a JSON Schema',
  'json-output': 'Output as any JSON',
  'max-tokens': 'Bound on output tokens',
  stop: 'Stop sequences',
  temperature: 'Temperature',
  'top-p': 'Top p',
  'top-k': 'Top k',
  seed: 'Seed',
  penalties: 'Presence and frequency penalty',
  choices: 'Several answers (n)',
  logprobs: 'Log probabilities',
  verbosity: 'Verbosity',
  user: 'End user',
} as const;

export const replyFeatures = {
  text: 'Text',
  refusal: 'Refusals',
  thoughts: 'Thoughts',
  'thought-signatures': 'Signatures of thoughts',
  calls: 'Tool calls, parallel too',
  'finish-reason': 'Finish reason',
  'stop-sequence': 'The stop sequence that was met',
  'cached-tokens': 'Cached input tokens',
  'reasoning-tokens': 'Reasoning tokens',
  'images-out': 'Images among the answer',
  citations: 'Citations',
  'stream-errors': 'Errors within the stream',
} as const;

export type RequestFeature = keyof typeof requestFeatures;
export type ReplyFeature = keyof typeof replyFeatures;

/** `gateway`: the vendor is not told, the gateway does it itself; `absent`: this protocol has no words for it. */
export type Fate = 'kept' | 'mapped' | 'gateway' | 'refused' | 'dropped' | 'absent';

/** What becomes of a feature, and how where that is not plain. */
export interface FeatureNote {
  readonly fate: Fate;
  readonly how?: string;
}

const kept = { fate: 'kept' } as const;
const withHow =
  <F extends Fate>(fate: F) =>
  (how: string) => ({ fate, how });

/** The words of a table. `both`: the same meaning in the same words on both sides of a request. */
export const fates = {
  kept,
  both: { said: kept, written: kept },
  absent: { fate: 'absent' },
  mapped: withHow('mapped'),
  gateway: withHow('gateway'),
  refused: withHow('refused'),
  dropped: withHow('dropped'),
} as const;

/**
 * Between different protocols: what of a request a client can say (`said`) and what a vendor gets (`written`); what of an
 * answer a vendor says (`read`) and what a client gets (`shown`). Equal protocols pass everything.
 */
export interface FeatureTable {
  readonly request: Readonly<Record<RequestFeature, { readonly said: FeatureNote; readonly written: FeatureNote }>>;
  readonly reply: Readonly<Record<ReplyFeature, { readonly read: FeatureNote; readonly shown: FeatureNote }>>;
}
