import { defineVendor } from '../../engine/plugin.ts';

/**
 * xAI. A bad key comes as 400, and 403 has three meanings: the content, the key, or a right the account lacks. The last
 * one concerns this request only (spec 4.3), so the channel stays.
 */
export default defineVendor({
  name: 'xai',
  summary: 'xAI: Grok chat and Imagine images.',
  baseUrl: 'https://api.x.ai/v1',
  auth: { header: 'authorization', value: 'Bearer {credential}' },
  speaks: {
    'xai-images': { generate: '/images/generations', edit: '/images/edits' },
    'xai-videos': { create: '/videos/generations', poll: '/videos/{id}' },
    'openai-chat': { whole: '/chat/completions', stream: '/chat/completions' },
  },
  failures: [
    { code: ['imagine:content-moderated', 'moderation_blocked'], reason: 'moderation' },
    { status: [400, 403], text: /content moderation|violates usage guidelines/i, reason: 'moderation' },
    // Vendors quote their clients: only a message that begins so is about the account.
    { status: [400, 403], text: /^incorrect api key provided/i, reason: 'credential' },
    { status: 401, reason: 'credential' },
    {
      status: 403,
      text: /(api key|team) (is|has been) (currently )?(blocked|disabled)|out of credits/i,
      reason: 'credential',
    },
    { status: [402, 429], text: /credits|spending limit/i, reason: 'credential' },
  ],
});
