import {
  type Claim,
  checkCount,
  checkListed,
  checkReferences,
  claimed,
  compileNearestRatio,
  defineNormalizer,
  GatewayError,
  type ImageFields,
  type PixelSize,
  parsePixelSize,
  requireListed,
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

/** `auto` leaves the choice open: it claims nothing and contradicts nothing. */
const said = (value: string | null): value is string => value !== null && value !== 'auto';

/** What each field of the client implies, the most explicit first (spec 2.7). */
function claimsOf({ aspect_ratio, resolution, size }: ImageFields, shapeOf: (size: string) => Claim[]): Claim[] {
  const claims: Claim[] = [];
  if (said(aspect_ratio)) claims.push({ param: 'aspect_ratio', setting: 'aspectRatio', value: aspect_ratio });
  if (resolution !== null) claims.push({ param: 'resolution', setting: 'resolution', value: resolution });
  return said(size) ? [...claims, ...shapeOf(size)] : claims;
}

function compileShape(ratios: readonly string[], tiers: readonly string[]): (size: string) => Claim[] {
  const nearestRatio = compileNearestRatio(ratios);
  const tier = compileTier(tiers);
  return (text) => {
    const size = parsePixelSize(text);
    return [
      { param: 'size', setting: 'aspectRatio', value: nearestRatio(size).name },
      { param: 'size', setting: 'resolution', value: tier(size) },
    ];
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
        items: { type: 'string', pattern: '^(auto|\\d+(\\.\\d+)?:\\d+(\\.\\d+)?)$' },
        minItems: 1,
        uniqueItems: true,
      },
      tiers: {
        type: 'array',
        description: 'Allowed values of `resolution`, as the vendor writes them.',
        items: { type: 'string', pattern: '^\\d+(\\.\\d+)?k$' },
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
      n: {
        type: 'object',
        description: 'Images per request.',
        additionalProperties: false,
        default: { maximum: 10 },
        properties: {
          maximum: { type: 'integer', description: 'Most images per request.', minimum: 1, maximum: 100, default: 10 },
        },
      },
      references: { type: 'integer', description: 'Most reference images of an edit.', minimum: 0, default: 5 },
    },
  },
  compile(rules) {
    const aspectRatio = rules.defaults.aspectRatio ?? null;
    const resolution = rules.defaults.resolution ?? null;
    if (aspectRatio !== null) requireListed('rules.defaults.aspectRatio', aspectRatio, rules.ratios);
    if (resolution !== null) requireListed('rules.defaults.resolution', resolution, rules.tiers);
    const ratios = new Set(rules.ratios);
    const tiers = new Set(rules.tiers);
    const qualities = new Set(rules.qualities);
    const shapeOf = compileShape(rules.ratios, rules.tiers);

    return ({ call }) => {
      if (call?.kind !== 'image') return;
      const { fields } = call;
      const n = checkCount(fields.n, rules.n.maximum);
      checkReferences(call.references.length, rules.references);
      if (fields.aspect_ratio !== null) checkListed('aspect_ratio', fields.aspect_ratio, ratios);
      if (fields.resolution !== null) checkListed('resolution', fields.resolution, tiers);
      if (fields.quality !== null) checkListed('quality', fields.quality, qualities, 'unsupported_parameter');
      refuseImageSize(fields);
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
