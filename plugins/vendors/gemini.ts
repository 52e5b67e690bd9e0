import { defineVendor } from '../../engine/plugin.ts';

const generate = '/models/{model}:generateContent';

/** Google's Gemini API. A bad key comes as 400 with the reason API_KEY_INVALID. */
export default defineVendor({
  name: 'gemini',
  summary: 'Google’s Gemini API.',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  auth: { header: 'x-goog-api-key', value: '{credential}' },
  speaks: {
    'gemini-generate': {
      whole: generate,
      stream: '/models/{model}:streamGenerateContent?alt=sse',
      count: '/models/{model}:countTokens',
    },
    'gemini-embeddings': { call: '/models/{model}:batchEmbedContents' },
    'gemini-images': { generate, edit: generate },
    // The name of an operation is its path.
    'gemini-videos': { create: '/models/{model}:predictLongRunning', poll: '/{id}' },
  },
  failures: [
    { code: ['API_KEY_INVALID', 'API_KEY_SERVICE_BLOCKED', 'SERVICE_DISABLED'], reason: 'credential' },
    // Vendors quote their clients: only a message that begins so is about the account.
    { status: 400, text: /^api key (not valid|expired|not found)/i, reason: 'credential' },
    {
      status: 400,
      code: 'FAILED_PRECONDITION',
      text: /user location is not supported|enable billing/i,
      reason: 'credential',
    },
    // A client that names what is not there.
    {
      status: 403,
      text: /^(you do not have permission to access the file|cachedcontent not found)/i,
      reason: 'status',
    },
    { status: [401, 403], reason: 'credential' },
    { status: 429, text: /credits are depleted|prepay/i, reason: 'credential' },
    { status: 400, text: /prohibited content|safety (system|filter|reasons)|usage guidelines/i, reason: 'moderation' },
  ],
});
