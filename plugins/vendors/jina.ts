import { defineVendor } from '../../engine/plugin.ts';

/** Jina: its embeddings look like OpenAI's. */
export default defineVendor({
  name: 'jina',
  summary: 'Jina: embeddings and rerank.',
  baseUrl: 'https://api.jina.ai/v1',
  auth: { header: 'authorization', value: 'Bearer {credential}' },
  speaks: {
    'jina-rerank': { call: '/rerank' },
    'openai-embeddings': { call: '/embeddings' },
  },
  failures: [
    { text: /content policy/i, reason: 'moderation' },
    { status: 401, reason: 'credential' },
    { status: 403, text: /balance|api key|insufficient/i, reason: 'credential' },
  ],
});
