/** What a request costs: the list price, the group's share of it, and what is held before the first attempt. */
import type { Offer, Price } from '../../contract/model.ts';
import { type Decimal, multiplyDecimals, parseDecimal, unitsPerDollar } from '../../wire/money.ts';
import { formatUsd } from '../amount.ts';

export interface ExplainedPrice {
  readonly multiplier: string;
  readonly kinds: readonly {
    readonly kind: string;
    /** `image`, `1M tokens`, … */
    readonly per: string;
    readonly listUsd: string;
    readonly usd: string;
    readonly units: string;
  }[];
  /** Null where the chain holds nothing. */
  readonly hold: { readonly units: number; readonly usd: string } | null;
}

const perUnit: Readonly<Record<string, string>> = {
  image: 'image',
  request: 'request',
  second: 'second',
  character: 'character',
  searchUnit: 'search unit',
};

function formatDecimal({ value, scale }: Decimal): string {
  const digits = value.toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return scale === 0 || fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Prices and multipliers were checked when the configuration was loaded. */
const decimal = (text: string): Decimal => parseDecimal(text)!;

export function explainPrice({ model, group }: Offer, holds: readonly number[]): ExplainedPrice {
  const multiplier = decimal(group.multiplier);
  const kinds = (Object.entries(model.price) as [keyof Price, string][]).map(([kind, listUsd]) => {
    const usd = multiplyDecimals(decimal(listUsd), multiplier);
    const units = { value: usd.value * unitsPerDollar, scale: usd.scale };
    return { kind, per: perUnit[kind] ?? '1M tokens', listUsd, usd: formatDecimal(usd), units: formatDecimal(units) };
  });
  const units = holds.reduce((sum, amount) => sum + amount, 0);
  return { multiplier: group.multiplier, kinds, hold: holds.length === 0 ? null : { units, usd: formatUsd(units) } };
}
