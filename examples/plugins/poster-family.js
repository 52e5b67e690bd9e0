// @ts-check
import { checkCount, checkReferences, defineNormalizer, GatewayError, quoted } from 'unified-model-gateway/plugin';

/** Image models that know a few paper formats: the client says `size: A3`, the vendor is told pixels. */
export default defineNormalizer({
  name: 'poster',
  summary: 'Paper formats instead of pixels.',
  rules: {
    type: 'object',
    additionalProperties: false,
    required: ['formats'],
    properties: {
      formats: {
        type: 'object',
        description: 'Format → size in pixels.',
        additionalProperties: { type: 'string', description: '`<width>x<height>`', pattern: '^\\d+x\\d+$' },
      },
      default: { type: 'string', description: 'Format where the client names none.', default: 'A4' },
    },
  },
  compile({ formats, default: usual }, model) {
    if (formats[usual] === undefined) throw new Error(`${model.name}: the default ${usual} is not among the formats`);
    const allowed = Object.keys(formats).join(', ');
    return ({ call }) => {
      if (call?.kind !== 'image') return;
      checkReferences(call.references.length, 1);
      const asked = call.fields.size ?? usual;
      const size = formats[asked];
      if (size === undefined) {
        const message = `\`size\` ${quoted(asked)} is no format of this model. Allowed: ${allowed}.`;
        throw new GatewayError('invalid_value', message, { param: 'size' });
      }
      call.claims = [];
      call.settings = { n: checkCount(call.fields.n, 1), size, quality: null, aspectRatio: null, resolution: null };
    };
  },
});
