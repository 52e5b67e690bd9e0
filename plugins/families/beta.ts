import {
  checkCount,
  checkReferences,
  claimed,
  claimsOf,
  compileAllowed,
  compileNearestRatio,
  countRule,
  defineNormalizer,
  type NearestRatio,
  type PixelSize,
  parsePixelSize,
  referencesRule,
  requireListed,
  type Shape,
} from '../../engine/plugin.ts';

/** How many times 1K a tier is: `2K` → 2, `512` → 0.5. */
function scaleOf(tier: string): number {
  const match = /^(\d+(?:\.\d+)?)([kK])?$/.exec(tier);
  if (!match) return Number.POSITIVE_INFINITY;
  return match[2] === undefined ? Number(match[1]) / 1024 : Number(match[1]);
}

/**
 * The tier for a size: its long side measured in the long side that its ratio has at one megapixel (1K). A tier takes
 * what is at most half as large again, from 2K on a quarter; the largest tier takes the rest.
 */
function compileTier(tiers: readonly string[]): (size: PixelSize, ratio: NearestRatio) => string {
  const steps = tiers
    .map((name) => ({ name, scale: scaleOf(name) }))
    .sort((one, other) => one.scale - other.scale)
    .map(({ name, scale }) => ({ name, limit: scale * (scale < 2 ? 1.5 : 1.25) }));
  const largest = steps[steps.length - 1]!.name;
  return ({ width, height }, { ratio }) => {
    const longSideAt1K = 1024 * Math.sqrt(Math.max(ratio, 1 / ratio));
    const scale = Math.max(width, height) / longSideAt1K;
    return steps.find(({ limit }) => scale <= limit)?.name ?? largest;
  };
}

/** The table first, where it names something this model can draw; then the nearest ratio and tier. */
function compileShape(ratios: readonly string[], tiers: readonly string[], sizes: Readonly<Record<string, Shape>>) {
  const exact = new Map(
    Object.entries(sizes).filter(
      ([, { aspectRatio, resolution }]) => ratios.includes(aspectRatio) && tiers.includes(resolution),
    ),
  );
  const nearestRatio = compileNearestRatio(ratios);
  const tier = compileTier(tiers);
  return (text: string): Shape => {
    const known = exact.get(text);
    if (known) return known;
    const size = parsePixelSize(text);
    const ratio = nearestRatio(size);
    return { aspectRatio: ratio.name, resolution: tier(size, ratio) };
  };
}

const tierPattern = '^(\\d{2,5}|\\d+(\\.\\d+)?[kK])$';
const tierExpected = 'a resolution such as 2K or 512';
const ratioPattern = '^\\d+(\\.\\d+)?:\\d+(\\.\\d+)?$';

/**
 * Aspect-ratio/resolution family (spec 2.6). Tiers are compared as written (`1k` is not `1K`): the table hands them on
 * with the same value, and the vendor tells them apart. A quality decides the tier only where no field names one.
 */
export default defineNormalizer({
  name: 'beta',
  summary: 'Aspect ratio and resolution tier; pixel sizes and quality are converted.',
  rules: {
    type: 'object',
    additionalProperties: false,
    required: ['ratios', 'tiers'],
    properties: {
      ratios: {
        type: 'array',
        description: 'Allowed values of `aspect_ratio`; the earlier one wins where a size lies between two.',
        items: { type: 'string', pattern: ratioPattern, 'x-expected': 'a ratio such as 16:9' },
        minItems: 1,
        uniqueItems: true,
      },
      tiers: {
        type: 'array',
        description: 'Allowed values of `resolution` and `image_size`, as the vendor writes them.',
        items: { type: 'string', pattern: tierPattern, 'x-expected': tierExpected },
        minItems: 1,
        uniqueItems: true,
      },
      sizes: {
        type: 'object',
        description: 'Pixel sizes with a fixed meaning; all others go to the nearest ratio and tier.',
        default: {},
        propertyNames: { pattern: '^[1-9]\\d{0,4}x[1-9]\\d{0,4}$', 'x-expected': 'pixels such as 1024x768' },
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          required: ['aspectRatio', 'resolution'],
          properties: {
            aspectRatio: { type: 'string', description: 'One of the ratios.' },
            resolution: { type: 'string', description: 'One of the tiers.' },
          },
        },
      },
      defaults: {
        type: 'object',
        description: 'What holds where the caller names neither size nor quality.',
        additionalProperties: false,
        default: { aspectRatio: '1:1', resolution: '1K' },
        properties: {
          aspectRatio: { type: 'string', description: 'One of the ratios.', default: '1:1' },
          resolution: { type: 'string', description: 'One of the tiers.', default: '1K' },
        },
      },
      qualities: {
        type: 'array',
        description: 'Accepted values of `quality`.',
        items: { type: 'string' },
        default: ['auto', 'low', 'medium', 'high', 'standard', 'hd'],
      },
      qualityTiers: {
        type: 'object',
        description: 'Quality → tier, used where no field names a resolution; others leave the default.',
        additionalProperties: { type: 'string', pattern: tierPattern, 'x-expected': tierExpected },
        default: { high: '2K' },
      },
      n: countRule(1),
      references: referencesRule(14),
    },
  },
  compile(rules) {
    requireListed('rules.defaults.aspectRatio', rules.defaults.aspectRatio, rules.ratios);
    requireListed('rules.defaults.resolution', rules.defaults.resolution, rules.tiers);
    for (const [quality, tier] of Object.entries(rules.qualityTiers)) {
      requireListed(`rules.qualityTiers.${quality}`, tier, rules.tiers);
    }
    const checkAllowed = compileAllowed(rules);
    const qualityTiers = new Map(Object.entries(rules.qualityTiers));
    const shapeOf = compileShape(rules.ratios, rules.tiers, rules.sizes);
    const { aspectRatio, resolution } = rules.defaults;

    return ({ call }) => {
      if (call?.kind !== 'image') return;
      const { fields } = call;
      const n = checkCount(fields.n, rules.n.maximum);
      checkReferences(call.references.length, rules.references);
      checkAllowed(fields);
      const claims = claimsOf(fields, shapeOf);
      const tierOfQuality = qualityTiers.get(fields.quality ?? '');
      call.claims = claims;
      call.settings = {
        n,
        size: null,
        quality: null,
        aspectRatio: claimed(claims, 'aspectRatio') ?? aspectRatio,
        resolution: claimed(claims, 'resolution') ?? tierOfQuality ?? resolution,
      };
    };
  },
});
