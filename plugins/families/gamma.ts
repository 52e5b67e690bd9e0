import {
  checkCount,
  checkReferences,
  claimed,
  claimsOf,
  compileAllowed,
  compileNearestRatio,
  countRule,
  defineNormalizer,
  GatewayError,
  type ImageFields,
  type PixelSize,
  parsePixelSize,
  referencesRule,
  requireListed,
  type Shape,
  said,
} from '../../engine/plugin.ts';

/** Long side in pixels up to which a tier is enough. Where there is no `1.5k`, its range belongs to `1k`. */
function longestSide(tier: string, tiers: readonly string[]): number {
  if (tier === '1.5k' || (tier === '1k' && !tiers.includes('1.5k'))) return 1664;
  return Number.parseFloat(tier) * 1280;
}

/** What is longer than every tier's side takes the largest tier. */
function compileTier(tiers: readonly string[]): (size: PixelSize) => string {
  const sorted = [...tiers].sort((one, other) => Number.parseFloat(one) - Number.parseFloat(other));
  const steps = sorted.map((name) => ({ name, limit: longestSide(name, tiers) }));
  const largest = sorted[sorted.length - 1]!;
  return ({ width, height }) => steps.find(({ limit }) => Math.max(width, height) <= limit)?.name ?? largest;
}

function refuseImageSize(fields: ImageFields): void {
  if (fields.image_size === null) return;
  const message = '`image_size` is not supported by this model. Send `resolution`.';
  throw new GatewayError('unsupported_parameter', message, { param: 'image_size' });
}

function compileShape(ratios: readonly string[], tiers: readonly string[]): (size: string) => Shape {
  const nearestRatio = compileNearestRatio(ratios);
  const tier = compileTier(tiers);
  return (text) => {
    const size = parsePixelSize(text);
    return { aspectRatio: nearestRatio(size).name, resolution: tier(size) };
  };
}

/**
 * The family with a `quality` option (spec 2.7). Values are compared as written (`1K` is not `1k`). Where the caller
 * says nothing the vendor is told nothing, unless the rules have defaults.
 */
export default defineNormalizer({
  name: 'gamma',
  summary: 'Aspect ratio, resolution, quality and n; pixel sizes are converted.',
  rules: {
    type: 'object',
    additionalProperties: false,
    required: ['ratios', 'tiers'],
    properties: {
      ratios: {
        type: 'array',
        description: 'Allowed values of `aspect_ratio`; the earlier one wins where a size lies between two.',
        items: {
          type: 'string',
          pattern: '^(auto|\\d+(\\.\\d+)?:\\d+(\\.\\d+)?)$',
          'x-expected': '`auto` or a ratio such as 16:9',
        },
        minItems: 1,
        uniqueItems: true,
      },
      tiers: {
        type: 'array',
        description: 'Allowed values of `resolution`, as the vendor writes them.',
        items: { type: 'string', pattern: '^\\d+(\\.\\d+)?k$', 'x-expected': 'a resolution such as 2k' },
        minItems: 1,
        uniqueItems: true,
      },
      qualities: {
        type: 'array',
        description: 'Allowed values of `quality`; `auto` leaves the choice to the vendor.',
        items: { type: 'string' },
        default: ['low', 'medium', 'auto'],
      },
      defaults: {
        type: 'object',
        description: 'What the vendor is told where the caller says nothing; absent: nothing.',
        additionalProperties: false,
        default: {},
        properties: {
          aspectRatio: { type: 'string', description: 'One of the ratios.' },
          resolution: { type: 'string', description: 'One of the tiers.' },
        },
      },
      n: countRule(10),
      references: referencesRule(5),
    },
  },
  compile(rules) {
    const aspectRatio = rules.defaults.aspectRatio ?? null;
    const resolution = rules.defaults.resolution ?? null;
    if (aspectRatio !== null) requireListed('rules.defaults.aspectRatio', aspectRatio, rules.ratios);
    if (resolution !== null) requireListed('rules.defaults.resolution', resolution, rules.tiers);
    const checkAllowed = compileAllowed(rules);
    const shapeOf = compileShape(rules.ratios, rules.tiers);

    return ({ call }) => {
      if (call?.kind !== 'image') return;
      const { fields } = call;
      const n = checkCount(fields.n, rules.n.maximum);
      checkReferences(call.references.length, rules.references);
      refuseImageSize(fields);
      checkAllowed(fields);
      const claims = claimsOf(fields, shapeOf);
      call.claims = claims;
      call.settings = {
        n,
        size: null,
        quality: said(fields.quality) ? fields.quality : null,
        aspectRatio: claimed(claims, 'aspectRatio') ?? fields.aspect_ratio ?? aspectRatio,
        resolution: claimed(claims, 'resolution') ?? resolution,
      };
    };
  },
});
