import { checkCount, checkReferences, countRule, defineNormalizer, referencesRule } from '../../engine/plugin.ts';

/**
 * Fixed-specification family (spec 2.5): the model's name decides size and quality. Whatever the caller says about
 * them is overwritten and claims nothing, so it can contradict nothing.
 */
export default defineNormalizer({
  name: 'alpha',
  summary: 'Fixed specification: the model fixes size and quality, the caller’s are overwritten.',
  rules: {
    type: 'object',
    additionalProperties: false,
    required: ['fixed'],
    properties: {
      fixed: {
        type: 'object',
        description: 'What the vendor is told, whatever the caller sends.',
        additionalProperties: false,
        required: ['size', 'quality'],
        properties: {
          size: {
            type: 'string',
            description: 'Pixels, `<width>x<height>`.',
            pattern: '^[1-9]\\d{0,4}x[1-9]\\d{0,4}$',
            'x-expected': 'pixels such as 1024x1024',
          },
          quality: { type: 'string', description: 'The vendor’s quality tier.', minLength: 1 },
        },
      },
      n: countRule(10),
      references: referencesRule(16),
    },
  },
  compile({ fixed, n, references }) {
    const specification = { size: fixed.size, quality: fixed.quality, aspectRatio: null, resolution: null };
    return ({ call }) => {
      if (call?.kind !== 'image') return;
      checkReferences(call.references.length, references);
      call.claims = [];
      call.settings = { n: checkCount(call.fields.n, n.maximum), ...specification };
    };
  },
});
