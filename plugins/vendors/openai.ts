import { defineVendor } from '../../engine/plugin.ts';

/** OpenAI, and any vendor that is like it: a channel names another base URL. */
export default defineVendor({
  name: 'openai',
  summary: 'OpenAI and vendors that speak like it.',
  baseUrl: 'https://api.openai.com/v1',
  auth: { header: 'authorization', value: 'Bearer {credential}' },
  speaks: {
    'openai-chat': { whole: '/chat/completions', stream: '/chat/completions' },
    'openai-completions': { whole: '/completions', stream: '/completions' },
    'openai-responses': {
      whole: '/responses',
      stream: '/responses',
      count: '/responses/input_tokens',
      stored: '/responses',
    },
    'openai-responses-compact': { whole: '/responses/compact', stream: '/responses/compact' },
    'openai-embeddings': { call: '/embeddings' },
    'openai-moderations': { call: '/moderations' },
    'openai-transcriptions': { call: '/audio/transcriptions' },
    'openai-translations': { call: '/audio/translations' },
    'openai-speech': { call: '/audio/speech' },
    'openai-realtime': { connect: '/realtime?model={model}' },
    'openai-images': { generate: '/images/generations', edit: '/images/edits' },
    'openai-videos': { create: '/videos', poll: '/videos/{id}', content: '/videos/{id}/content' },
  },
  failures: [
    { code: ['moderation_blocked', 'content_policy_violation'], reason: 'moderation' },
    { text: /safety system|content management policy/i, reason: 'moderation' },
    { status: 401, reason: 'credential' },
    // One request with more tokens than the account may use in a minute: the others have room.
    { status: 429, text: /^request too large/i, reason: 'status', as: 413 },
    // Vendors quote their clients: only a message that begins so is about the account.
    { code: 'invalid_api_key', reason: 'credential' },
    { status: [400, 403], text: /^(error: )?(incorrect|invalid) api key/i, reason: 'credential' },
    // Which account is asked decides these; the first one only for some models and tools.
    { status: 403, text: /^your organization must be verified/i, reason: 'credential', spares: true },
    { status: 403, text: /country, region, or territory/i, reason: 'credential' },
    {
      code: ['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active', 'account_deactivated'],
      reason: 'credential',
    },
  ],
});
