import type { Counts, DirectCall, EmbeddingsResult, JsonObject } from '../../../engine/plugin.ts';
import { encodeVector } from './vectors.ts';

/** OpenAI's list, in the order of the inputs. */
export function encodeReply({ vectors }: EmbeddingsResult, { model, body }: DirectCall, counts: Counts): JsonObject {
  const encode = body.encoding_format === 'base64' ? encodeVector : (vector: readonly number[]) => [...vector];
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) }));
  const tokens = counts.input ?? 0;
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
