// @ts-check
import { defineVendor } from 'unified-model-gateway/plugin';

/** Speaks like OpenAI, but with a header of its own, the version in the path and its own words for its troubles. */
export default defineVendor({
  name: 'acme',
  summary: 'Acme Models.',
  baseUrl: 'https://api.acme.example',
  auth: { header: 'x-acme-key', value: '{credential}' },
  headers: { 'x-acme-version': '2026-10-01' },
  speaks: {
    'openai-chat': { whole: '/2026/chat', stream: '/2026/chat' },
    'openai-images': { generate: '/2026/models/{model}/images', edit: '/2026/models/{model}/edits' },
  },
  failures: [
    // Acme answers 400 for a bad key: the account's trouble, not the client's.
    { status: 400, code: 'key_rejected', reason: 'credential' },
    { status: 402, reason: 'credential' },
    { text: /house rules/i, reason: 'moderation' },
  ],
});
