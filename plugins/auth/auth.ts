import {
  definePlugin,
  type Exchange,
  GatewayError,
  type Host,
  hashKey,
  isWellFormedKey,
  type KeyRecord,
} from '../../engine/plugin.ts';

const bearer = /^bearer +/i;

/** The secret of `Authorization: Bearer` or `x-api-key` (spec 5); the first wins where both are sent. */
function secretOf(exchange: Exchange): string {
  const { authorization, 'x-api-key': apiKey } = exchange.headers;
  if (authorization) {
    if (!bearer.test(authorization))
      throw new GatewayError('malformed_api_key', 'The Authorization header must be `Bearer sk-…`.');
    return authorization.replace(bearer, '').trim();
  }
  if (!apiKey) throw new GatewayError('missing_api_key');
  return apiKey.trim();
}

function admit(exchange: Exchange, key: KeyRecord | null, host: Host): void {
  if (key === null) throw new GatewayError('invalid_api_key');
  if (key.disabled) throw new GatewayError('disabled_api_key');
  if (key.expiresAt !== null && key.expiresAt <= host.now()) throw new GatewayError('expired_api_key');
  if (key.account.disabled) throw new GatewayError('account_disabled');
  const group = host.group(key.group);
  if (group === null)
    throw new GatewayError('model_not_allowed', 'The group of this key is not configured any more. Ask the operator.');
  exchange.principal = { key, group };
}

export default definePlugin({
  name: 'auth',
  summary: 'Who asks: the API key, its account and its group.',
  options: { type: 'object', additionalProperties: false, properties: {} },
  headers: ['authorization', 'x-api-key'],
  create: (_options, host) => ({
    onHead(exchange) {
      const secret = secretOf(exchange);
      if (!isWellFormedKey(secret)) throw new GatewayError('malformed_api_key');
      // Looked up by its hash: how long that takes says nothing about the secret.
      const found = host.ledger.findKey(hashKey(secret));
      if (!(found instanceof Promise)) return admit(exchange, found, host);
      return found.then((key) => admit(exchange, key, host));
    },
  }),
});
