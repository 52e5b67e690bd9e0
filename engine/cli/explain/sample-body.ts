/** The smallest body of each protocol, for where none is given. */
import type { Route } from '../../contract/model.ts';
import type { JsonObject } from '../../contract/values.ts';

const bodies: Readonly<Record<string, JsonObject>> = {
  'openai-chat': { messages: [{ role: 'user', content: 'Hello' }] },
  'openai-completions': { prompt: 'Hello' },
  'openai-responses': { input: 'Hello' },
  'openai-responses-compact': { input: 'Hello' },
  'anthropic-messages': { max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] },
  'gemini-generate': { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  'openai-embeddings': { input: 'Hello' },
  rerank: { query: 'Who swims?', documents: ['A fish swims.', 'A bird flies.'] },
  'openai-moderations': { input: 'Hello' },
  'openai-speech': { input: 'Hello', voice: 'alloy' },
  'openai-videos': { prompt: 'A kite over dunes' },
  'compat-videos': { prompt: 'A kite over dunes' },
  'openai-images': { prompt: 'A red fox in the snow' },
};

/** Where a bound on the answer has no place. */
const countBodies: Readonly<Record<string, JsonObject>> = {
  'anthropic-messages': { messages: [{ role: 'user', content: 'Hello' }] },
};

export function sampleBody({ protocol, operation }: Route): JsonObject {
  const own = operation === 'chat.count' ? countBodies[protocol] : undefined;
  return own ?? bodies[protocol] ?? {};
}

/** A PNG of one pixel: the reference image of an edit. */
export const samplePng = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
