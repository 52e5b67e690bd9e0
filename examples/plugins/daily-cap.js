// @ts-check
import { definePlugin, GatewayError } from 'unified-model-gateway/plugin';

const day = 86_400_000;

/**
 * Key number → its day and how many requests it has made on it. It belongs to the module, not to an instance: a reload
 * makes new instances, and each chain has its own.
 * @type {Map<number, { day: number, requests: number }>}
 */
const counts = new Map();

/**
 * The key's count of today, in UTC.
 * @param {number} key
 * @param {number} today
 */
function countOf(key, today) {
  const known = counts.get(key);
  if (known !== undefined && known.day === today) return known;
  const fresh = { day: today, requests: 0 };
  counts.set(key, fresh);
  return fresh;
}

export default definePlugin({
  name: 'daily-cap',
  summary: 'Lets each key make so many requests a day; those that fail do not count.',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      requests: { type: 'integer', minimum: 1, default: 1000, description: 'Requests per key and day (UTC).' },
    },
  },
  requires: ['auth'],
  create({ requests }, host) {
    /** @type {import('unified-model-gateway/plugin').Slot<{ requests: number }>} */
    const taken = host.slot();
    return {
      onRequest(exchange) {
        const now = host.now();
        const today = Math.floor(now / day);
        const count = countOf(exchange.principal?.key.id ?? 0, today);
        if (count.requests >= requests) {
          const retryAfter = Math.ceil(((today + 1) * day - now) / 1000);
          throw new GatewayError('rate_limit_exceeded', `This key may make ${requests} requests a day.`, {
            retryAfter,
          });
        }
        count.requests++;
        taken.set(exchange, count);
        return undefined;
      },
      onSettled(exchange, outcome) {
        const count = taken.get(exchange);
        if (count !== undefined && outcome.kind === 'error') count.requests--;
      },
    };
  },
});
