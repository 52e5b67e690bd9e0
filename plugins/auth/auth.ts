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

/** `?key=…`, where Google's clients put it; '' where there is none. */
function queryKey({ query }: Exchange): string {
  return query.includes('key=') ? (new URLSearchParams(query).get('key') ?? '') : '';
}

const keySubprotocol = 'openai-insecure-api-key.';

/** Browsers cannot set headers of a WebSocket: the key comes as a subprotocol. Only realtime routes read that header. */
function subprotocolKey({ headers }: Exchange): string {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return offered.find((name) => name.startsWith(keySubprotocol))?.slice(keySubprotocol.length) ?? '';
}

/**
 * The secret of `Authorization: Bearer`, `x-api-key` (spec 5), `x-goog-api-key`, a subprotocol or `?key=`; the first
 * wins where several are sent.
 */
function secretOf(exchange: Exchange): string {
  const { authorization, 'x-api-key': ownKey, 'x-goog-api-key': googleKey } = exchange.headers;
  if (authorization) {
    if (authorization.startsWith('Bearer ')) return authorization.slice(7).trim();
    if (!bearer.test(authorization))
      throw new GatewayError('malformed_api_key', 'The Authorization header must be `Bearer sk-…`.');
    return authorization.replace(bearer, '').trim();
  }
  const apiKey = ownKey || googleKey || subprotocolKey(exchange) || queryKey(exchange);
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
  headers: ['authorization', 'x-api-key', 'x-goog-api-key'],
  create(_options, host) {
    const check = (exchange: Exchange) => {
      const secret = secretOf(exchange);
      if (!isWellFormedKey(secret)) throw new GatewayError('malformed_api_key');
      // Looked up by its hash: how long that takes says nothing about the secret.
      const found = host.ledger.findKey(hashKey(secret));
      if (!(found instanceof Promise)) return admit(exchange, found, host);
      return found.then((key) => admit(exchange, key, host));
    };
    // A key that is revoked ends its session with the next answer.
    return { onHead: check, onPart: check };
  },
});
