/** What every image family needs: the checks of a request against a family's rules, and pixel sizes as ratio and tier. */
import type { Claim, ImageFields } from './contract/image.ts';
import { type ErrorCode, GatewayError } from './errors.ts';

type FieldName = keyof ImageFields;

/** A client's value in a message: bounded, on one line. */
export const quoted = (value: string): string => `\`${value.replace(/\s+/g, ' ').slice(0, 60)}\``;

const listed = (values: readonly string[]): string => values.map((value) => `\`${value}\``).join(', ');

/** Throws 400 naming the field, what was sent and what is allowed. */
export function checkListed(
  param: FieldName,
  value: string,
  allowed: ReadonlySet<string>,
  code: ErrorCode = 'invalid_value',
): void {
  if (allowed.has(value)) return;
  const message = `\`${param}\` ${quoted(value)} is not supported by this model. Allowed: ${listed([...allowed])}.`;
  throw new GatewayError(code, message, { param });
}

/** Throws 400 `invalid_value` for an `n` beyond the family's maximum. */
export function checkCount(n: number | null, maximum: number): number {
  if (n === null || (n >= 1 && n <= maximum)) return n ?? 1;
  const allowed = maximum === 1 ? 'only 1 is allowed' : `allowed are 1 to ${maximum}`;
  throw new GatewayError('invalid_value', `\`n\` ${n} is not supported by this model: ${allowed}.`, { param: 'n' });
}

/** Throws 400 `too_many_images` for more reference images than the family accepts. */
export function checkReferences(count: number, maximum: number): void {
  if (count <= maximum) return;
  const message = `${count} reference images were sent; this model accepts at most ${maximum}.`;
  throw new GatewayError('too_many_images', message, { param: 'image' });
}

/** The rule `n` of a family: images per request. */
export const countRule = <const Maximum extends number>(maximum: Maximum) =>
  ({
    type: 'object',
    description: 'Images per request.',
    additionalProperties: false,
    default: { maximum },
    properties: {
      maximum: { type: 'integer', description: 'Most images per request.', minimum: 1, maximum: 100, default: maximum },
    },
  }) as const;

/** The rule `references` of a family. */
export const referencesRule = <const Maximum extends number>(maximum: Maximum) =>
  ({ type: 'integer', description: 'Most reference images of an edit.', minimum: 0, default: maximum }) as const;

/** The values that a family has for what its clients may name. */
export interface AllowedValues {
  readonly ratios: readonly string[];
  readonly tiers: readonly string[];
  readonly qualities: readonly string[];
}

/** Compiles a check of all that the client wrote, compared as written (`1k` is not `1K`); it throws like `checkListed`. */
export function compileAllowed(allowed: AllowedValues): (fields: ImageFields) => void {
  const ratios = new Set(allowed.ratios);
  const tiers = new Set(allowed.tiers);
  const qualities = new Set(allowed.qualities);
  return ({ aspect_ratio, resolution, image_size, quality }) => {
    if (aspect_ratio !== null) checkListed('aspect_ratio', aspect_ratio, ratios);
    if (resolution !== null) checkListed('resolution', resolution, tiers);
    if (image_size !== null) checkListed('image_size', image_size, tiers);
    if (quality !== null) checkListed('quality', quality, qualities, 'unsupported_parameter');
  };
}

/** What a pixel size stands for. */
export interface Shape {
  readonly aspectRatio: string;
  readonly resolution: string;
}

/** `auto` leaves the choice open: it claims nothing and contradicts nothing. */
export const said = (value: string | null): value is string => value !== null && value !== 'auto';

/** What each field of the client implies, the most explicit first (spec 2.6, 2.7). */
export function claimsOf(fields: ImageFields, shapeOf: (size: string) => Shape): Claim[] {
  const { aspect_ratio, resolution, image_size, size } = fields;
  const claims: Claim[] = [];
  if (said(aspect_ratio)) claims.push({ param: 'aspect_ratio', setting: 'aspectRatio', value: aspect_ratio });
  if (resolution !== null) claims.push({ param: 'resolution', setting: 'resolution', value: resolution });
  if (image_size !== null) claims.push({ param: 'image_size', setting: 'resolution', value: image_size });
  if (!said(size)) return claims;
  const shape = shapeOf(size);
  claims.push({ param: 'size', setting: 'aspectRatio', value: shape.aspectRatio });
  claims.push({ param: 'size', setting: 'resolution', value: shape.resolution });
  return claims;
}

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** `<width>x<height>`, each 1 to 99999; throws 400 `invalid_value`. */
export function parsePixelSize(size: string): PixelSize {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size);
  if (match) return { width: Number(match[1]), height: Number(match[2]) };
  const message = `\`size\` ${quoted(size)} is not a size: write <width>x<height> in pixels, for example 1024x1024.`;
  throw new GatewayError('invalid_value', message, { param: 'size' });
}

/** `16:9` or `19.5:9` as width / height; null for names that are no ratio (`auto`). */
function ratioOf(name: string): number | null {
  const match = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(name);
  if (!match) return null;
  const ratio = Number(match[1]) / Number(match[2]);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : null;
}

export interface NearestRatio {
  readonly name: string;
  readonly ratio: number;
}

/** Beyond 15 % the picture would not be what was asked for. */
const largestRatioError = Math.log(1.15);

/**
 * Compiles a list of ratio names; the answer finds the one nearest to a size on a logarithmic scale, so that wide and
 * tall are treated alike. The earlier name wins a tie. Throws 400 `invalid_value` when none is within 15 %.
 */
export function compileNearestRatio(names: readonly string[]): (size: PixelSize) => NearestRatio {
  const candidates = names.flatMap((name) => {
    const ratio = ratioOf(name);
    return ratio === null ? [] : [{ name, ratio, log: Math.log(ratio) }];
  });
  return ({ width, height }) => {
    const wanted = Math.log(width / height);
    let best: (typeof candidates)[number] | null = null;
    let error = largestRatioError;
    for (const candidate of candidates) {
      const distance = Math.abs(candidate.log - wanted);
      if (distance < error - 1e-9) [best, error] = [candidate, distance];
    }
    if (best !== null) return best;
    const message = `\`size\` ${width}x${height} is far from every ratio of this model. Allowed: ${listed(candidates.map(({ name }) => name))}.`;
    throw new GatewayError('invalid_value', message, { param: 'size' });
  };
}

/** What the most explicit field says about a setting; null where none does. */
export const claimed = (claims: readonly Claim[], setting: Claim['setting']): string | null =>
  claims.find((claim) => claim.setting === setting)?.value ?? null;

/** Throws while the configuration is loaded: a rule names a value that the same rules do not list. */
export function requireListed(place: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw new Error(`${place} is ${quoted(value)}, which is not one of ${listed(allowed)}`);
}
