import { defineNormalizer } from '../../engine/plugin.ts';

/** For vendors that understand the client's own fields: the protocol has already laid them out as settings. */
export default defineNormalizer({
  name: 'passthrough',
  summary: 'Hands the client’s fields to the vendor as they are.',
  rules: { type: 'object', additionalProperties: false, properties: {} },
  compile: () => () => {},
});
