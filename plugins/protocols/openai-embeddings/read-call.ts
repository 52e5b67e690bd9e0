/** What the gateway itself relies on; all else is the vendor's business. */
import {
  type DirectCall,
  type EmbeddingsRequest,
  estimatedUsage,
  GatewayError,
  invalidType,
  type JsonObject,
  type JsonValue,
  optionalCount,
  requiredString,
  textTokens,
  unsupported,
} from '../../../engine/plugin.ts';

type Input = EmbeddingsRequest['inputs'][number];

const isToken = (value: JsonValue): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isTokens = (value: JsonValue): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every(isToken);

/** A string or one list of tokens is one input; a list of strings, of token lists or of a vendor's own objects several. */
export function inputsOf(input: JsonValue | undefined): JsonValue[] {
  if (input === undefined || input === null)
    throw new GatewayError('missing_required_parameter', '`input` is required.', { param: 'input' });
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input)) throw invalidType('input', 'a string or an array');
  if (input.length === 0) throw empty('input');
  return isTokens(input) ? [input] : input;
}

const empty = (param: string): GatewayError => new GatewayError('invalid_value', `\`${param}\` is empty.`, { param });

function tokensOf(input: JsonValue, place: string): number {
  if (input === '') throw empty(place);
  if (isTokens(input)) return input.length;
  if (typeof input !== 'string' && (typeof input !== 'object' || input === null || Array.isArray(input)))
    throw invalidType(place, 'a string or an array of tokens');
  return textTokens(typeof input === 'string' ? input : JSON.stringify(input));
}

const placeOf = (body: JsonObject, index: number): string =>
  Array.isArray(body.input) && !isTokens(body.input) ? `input[${index}]` : 'input';

export function readCall(body: JsonObject): DirectCall {
  const model = requiredString(body, 'model');
  const tokens = inputsOf(body.input).map((input, index) => tokensOf(input, placeOf(body, index)));
  optionalCount(body, 'dimensions', 1);
  const bound = estimatedUsage({ input: tokens.reduce((sum, count) => sum + count, 0) });
  return { kind: 'direct', operation: 'embeddings', model, stream: false, bound, known: {}, body, form: null };
}

/** Texts and tokens; what only one vendor knows cannot be carried to another. `user` is dropped: it changes no vector. */
export function decodeRequest({ body }: DirectCall): EmbeddingsRequest {
  const inputs = inputsOf(body.input).map((input, index): Input => {
    if (typeof input === 'string' || isTokens(input)) return input;
    throw unsupported(placeOf(body, index), 'must be text for the vendor of this model.');
  });
  const format = body.encoding_format ?? 'float';
  if (format !== 'float' && format !== 'base64') throw unsupported('encoding_format', 'must be float or base64.');
  return { inputs, dimensions: optionalCount(body, 'dimensions', 1) };
}
