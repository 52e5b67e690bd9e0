/**
 * The plugin author's kit: a plugin, a normalizer, a vendor or a protocol runs without a gateway, a network or a disk.
 * docs/plugins.md shows each of these at work.
 */
export { type ChatBetween, chatBetween } from './plugin/chat.ts';
export { createExchange, type ExchangeGiven, type TestExchange } from './plugin/exchange.ts';
export { createHost, type HostGiven, type TestHost } from './plugin/host.ts';
export { imagesOf, type VendorImages } from './plugin/images.ts';
export { openNormalizer } from './plugin/normalizer.ts';
export { openPlugin, type PassedRequest, type TestPlugin } from './plugin/plugin.ts';
export type { Refusal } from './plugin/refusal.ts';
export { openVendor, type SentRequest, type TestVendor } from './plugin/vendor.ts';
