/** A vendor's answer in OpenAI's form: it passes as it came where it is what the client asked for. */
import {
  type Counts,
  counted,
  type DirectCall,
  type DirectReply,
  isObject,
  type JsonObject,
  type JsonValue,
  readPlainError,
} from '../../../engine/plugin.ts';
import { inputsOf } from './read-call.ts';
import { decodeVector, encodeVector, isVector } from './vectors.ts';

/** Vendors count the same tokens twice. */
function readCounts(usage: JsonValue | undefined): Counts {
  if (!isObject(usage)) return {};
  return { ...counted('input', usage.total_tokens), ...counted('input', usage.prompt_tokens) };
}

/** Null where it is no vector. Vendors that know numbers only leave `base64` unheard; others send nothing else. */
function convert(embedding: JsonValue | undefined, wanted: JsonValue): JsonValue | null {
  if (typeof embedding === 'string') return wanted === 'float' ? decodeVector(embedding) : embedding || null;
  if (!isVector(embedding)) return wanted === 'float' || wanted === 'base64' ? null : (embedding ?? null);
  return wanted === 'base64' ? encodeVector(embedding) : embedding;
}

const plainFields: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);

/** Whether a request says nothing but what OpenAI knows. What else a vendor is asked for may come in a form of its own. */
function isPlain(body: JsonObject): boolean {
  return Object.keys(body).every((name) => plainFields.has(name)) && !inputsOf(body.input).some(isObject);
}

function entryAt(entry: JsonValue, place: number): { readonly entry: JsonObject; readonly index: number } {
  if (!isObject(entry)) throw new Error('an entry of the answer is no object');
  const index = entry.index ?? place;
  if (typeof index !== 'number') throw new Error('an entry of the answer has no index');
  return { entry, index };
}

export function readReply(body: Buffer, call: DirectCall): DirectReply {
  const value = JSON.parse(body.toString('utf8')) as JsonValue;
  if (!isObject(value) || !Array.isArray(value.data)) {
    const error = readPlainError(value);
    if (error === null) throw new Error('the answer has no embeddings');
    return { body, counts: {}, error };
  }
  const counts = readCounts(value.usage);
  const { body: asked } = call;
  const plain = isPlain(asked);
  const wanted = asked.encoding_format ?? 'float';
  const entries = value.data.map(entryAt);
  const sorted = [...entries].sort((one, other) => one.index - other.index);
  const expected = plain ? inputsOf(asked.input).length : Math.max(1, sorted.length);
  if (sorted.length !== expected || sorted.some(({ index }, place) => index !== place))
    throw new Error('the answer has not one embedding for each input');
  const data = sorted.map(({ entry }) => {
    const embedding = convert(entry.embedding, wanted);
    if (embedding === null && plain) throw new Error('an embedding of the answer is none');
    return embedding === null || embedding === entry.embedding ? entry : { ...entry, embedding };
  });
  const isAsAsked = data.every((entry, place) => entry === entries[place]!.entry);
  return { body: isAsAsked ? body : Buffer.from(JSON.stringify({ ...value, data })), counts, error: null };
}
