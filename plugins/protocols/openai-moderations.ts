import {
  type DirectCall,
  type DirectProtocol,
  type DirectReply,
  defineProtocol,
  estimatedUsage,
  GatewayError,
  invalidType,
  isObject,
  type JsonObject,
  type JsonValue,
  openAiError,
  readPlainError,
  stringOrNull,
  textTokens,
} from '../../engine/plugin.ts';

/** What OpenAI takes where the request names none; it must be among the configured models. */
const standardModel = 'omni-moderation-latest';

/** Of texts and text parts; pictures count nothing. */
function tokensOf(input: JsonValue | undefined): number {
  if (typeof input === 'string') return textTokens(input);
  if (Array.isArray(input)) return input.reduce<number>((sum, one) => sum + tokensOf(one), 0);
  return isObject(input) ? tokensOf(input.text) : 0;
}

function readCall(body: JsonObject): DirectCall {
  const { input } = body;
  if (input === undefined || input === null)
    throw new GatewayError('missing_required_parameter', '`input` is required.', { param: 'input' });
  if (typeof input !== 'string' && !Array.isArray(input))
    throw invalidType('input', 'a string or an array of strings or parts');
  if (input.length === 0 && typeof input !== 'string')
    throw new GatewayError('invalid_value', '`input` is empty.', { param: 'input' });
  const model = stringOrNull(body.model, 'model') ?? standardModel;
  const bound = estimatedUsage({ input: Math.max(1, tokensOf(input)) });
  return { kind: 'direct', operation: 'moderations', model, stream: false, bound, known: {}, body, form: null };
}

function readReply(body: Buffer): DirectReply {
  const value = JSON.parse(body.toString('utf8')) as JsonValue;
  if (isObject(value) && Array.isArray(value.results) && value.results.length > 0)
    return { body, counts: {}, error: null };
  const error = readPlainError(value);
  if (error === null) throw new Error('the answer has no results');
  return { body, counts: {}, error };
}

/** `/moderations`: vendors answer it for nothing, and report no usage. */
export default defineProtocol<DirectProtocol>({
  kind: 'direct',
  name: 'openai-moderations',
  summary: 'OpenAI moderations of texts and pictures.',
  operation: 'moderations',
  client: { accepts: 'json', readCall, encodeError: openAiError },
  relay: { shape: () => 'whole', reply: readReply, decodeError: readPlainError },
});
