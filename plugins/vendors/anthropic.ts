import { defineVendor } from '../../engine/plugin.ts';

/**
 * Anthropic, and any vendor that is like it: a channel names another base URL. The version is what requests of other
 * protocols are written for; a client of this one may name its own. An empty account comes as 400.
 */
export default defineVendor({
  name: 'anthropic',
  summary: 'Anthropic and vendors that speak like it.',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: { header: 'x-api-key', value: '{credential}' },
  headers: { 'anthropic-version': '2023-06-01' },
  speaks: {
    'anthropic-messages': { whole: '/messages', stream: '/messages', count: '/messages/count_tokens' },
  },
  failures: [
    { code: ['authentication_error', 'billing_error'], reason: 'credential' },
    { status: [401, 402], reason: 'credential' },
    // `<member>: <fault>` quotes the client: what is said of the account begins so and names no member.
    {
      status: [400, 403, 429],
      text: /^(?!.*: )(your|you have|this) .*(credit balance is too low|(api usage|spend(ing)?) limits?|plans (&|and) billing)/is,
      reason: 'credential',
    },
    // One request that is longer than the account may send: the others have room.
    { status: 429, text: /^extra usage is required for long context/i, reason: 'status', as: 413 },
    { code: 'organization_on_hold', reason: 'credential' },
    { status: 400, text: /^(?!.*: )(this|your) organization (has been|is) (disabled|on hold)/is, reason: 'credential' },
    // A 403 is about what the account may do: the country, the plan, the workspace.
    { status: 403, reason: 'credential' },
    { status: 400, text: /content filtering policy/i, reason: 'moderation' },
  ],
});
