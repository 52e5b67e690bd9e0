/** Amounts of money on the command line: integer quota units, shown and read as USD without floating point. */
import { InvalidArgumentError } from 'commander';
import { parseDecimal, scaleTo, unitsPerDollar } from '../wire/money.ts';

/** 500000 units are 10^6 millionths of a USD: six decimals are always enough. */
const decimals = 6;
const unitsToMillionths = 10n ** BigInt(decimals) / unitsPerDollar;

/** `5`, `0.20`, `-1.50` → units. Throws InvalidArgumentError for what is no amount, or finer than one unit. */
export function parseUsd(text: string): number {
  const isNegative = text.startsWith('-');
  const decimal = parseDecimal(isNegative ? text.slice(1) : text);
  if (decimal === null) throw new InvalidArgumentError('An amount in USD looks like 5 or 0.20.');
  const divisor = 10n ** BigInt(decimal.scale);
  const units = scaleTo(decimal, decimal.scale) * unitsPerDollar;
  if (units % divisor !== 0n) throw new InvalidArgumentError('The smallest amount is 0.000002 USD (one unit).');
  return toSafe(isNegative ? -units / divisor : units / divisor);
}

/** `2500000`, `-1` → units. */
export function parseUnits(text: string): number {
  if (!/^-?\d{1,16}$/.test(text)) throw new InvalidArgumentError('Units are a whole number; 500000 are 1 USD.');
  return toSafe(BigInt(text));
}

function toSafe(units: bigint): number {
  if (units > Number.MAX_SAFE_INTEGER || units < Number.MIN_SAFE_INTEGER)
    throw new InvalidArgumentError('The amount is too large.');
  return Number(units);
}

/** 2500000 → `5.00`; at least two decimals, never rounded. */
export function formatUsd(units: number): string {
  const millionths = BigInt(Math.abs(units)) * unitsToMillionths;
  const digits = millionths.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0{1,4}$/, '');
  return `${units < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${fraction}`;
}

/** `5.00 USD (2500000 units)` */
export const formatAmount = (units: number): string => `${formatUsd(units)} USD (${units} units)`;
