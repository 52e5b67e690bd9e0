import { defineVendor } from '../../engine/plugin.ts';

/** Cohere, version 2. */
export default defineVendor({
  name: 'cohere',
  summary: 'Cohere: rerank.',
  baseUrl: 'https://api.cohere.com/v2',
  auth: { header: 'authorization', value: 'Bearer {credential}' },
  speaks: { 'cohere-rerank': { call: '/rerank' } },
  failures: [
    { text: /blocked by our content policy|content policy violation/i, reason: 'moderation' },
    { status: 401, reason: 'credential' },
    // A trial key that has used its month up is of no use until the next.
    { status: 429, text: /calls? \/ month|payment method/i, reason: 'credential' },
    { status: 403, text: /api (key|token)|not authorized/i, reason: 'credential' },
    // A token in the request that Cohere blocks.
    { status: 498, reason: 'moderation' },
  ],
});
