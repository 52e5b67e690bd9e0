/** Exact money: decimal strings as big integers, never floating point. 500000 quota units are 1 USD (spec section 8). */
export const unitsPerDollar = 500_000n;

/** `value` / 10^`scale` */
export interface Decimal {
  readonly value: bigint;
  readonly scale: number;
}

const decimalPattern = /^(\d{1,12})(?:\.(\d{1,12}))?$/;

/** Reads `0.20`, `3`, `0.000125`: at most 12 digits on either side, no sign, no exponent. Null for anything else. */
export function parseDecimal(text: string): Decimal | null {
  const match = decimalPattern.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? '';
  return { value: BigInt(`${match[1]}${fraction}`), scale: fraction.length };
}

export function multiplyDecimals(left: Decimal, right: Decimal): Decimal {
  return { value: left.value * right.value, scale: left.scale + right.scale };
}

/** `decimal` × 10^`scale` as an integer; `scale` must not be below the decimal's own. */
export function scaleTo(decimal: Decimal, scale: number): bigint {
  return decimal.value * 10n ** BigInt(scale - decimal.scale);
}

export function greatestCommonDivisor(left: bigint, right: bigint): bigint {
  while (right !== 0n) [left, right] = [right, left % right];
  return left;
}

/** numerator / denominator, rounded half up. Throws RangeError where the result is no safe integer. */
export function divideHalfUp(numerator: bigint, denominator: bigint): number {
  const rounded = (2n * numerator + denominator) / (2n * denominator);
  if (rounded > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('the charge exceeds 2^53 quota units');
  return Number(rounded);
}
