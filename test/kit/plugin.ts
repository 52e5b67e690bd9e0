/**
 * The plugin author's kit: a plugin, a normalizer, a vendor or a protocol runs without a gateway, a network or a disk.
 * docs/plugins.md shows each of these at work.
 */
export { chatBetween } from './plugin/chat.ts';
export { createExchange } from './plugin/exchange.ts';
export { createHost } from './plugin/host.ts';
export { imagesOf } from './plugin/images.ts';
export { openNormalizer } from './plugin/normalizer.ts';
export { openPlugin } from './plugin/plugin.ts';
export { openVendor } from './plugin/vendor.ts';
