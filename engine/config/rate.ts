/** Compiles a price and a multiplier to one Rate: integer numerators over one common denominator (spec section 8). */
import type { Price, Rate } from '../contract/model.ts';
import type { Usage } from '../contract/usage.ts';
import {
  type Decimal,
  divideHalfUp,
  greatestCommonDivisor,
  multiplyDecimals,
  parseDecimal,
  scaleTo,
  unitsPerDollar,
} from '../wire/money.ts';

const zero: Decimal = { value: 0n, scale: 0 };

/** One kind of usage: how many of it one priced unit holds, and where its price stands. */
interface Kind {
  /** Priced units are this many counted ones: tokens are priced per million, seconds counted in ms. */
  readonly per: bigint;
  price(price: Price): string | undefined;
  count(usage: Usage): number;
}

const million = 1_000_000n;

const plainInput = (usage: Usage): number =>
  Math.max(0, usage.input - usage.cachedInput - usage.cacheWrite - usage.audioInput);
const plainOutput = (usage: Usage): number => Math.max(0, usage.output - usage.reasoning - usage.audioOutput);

/** A usage without any count is owed nothing, so that not even a price per request is charged for it. */
function isEmpty(usage: Usage): boolean {
  const tokens = usage.input + usage.output;
  return tokens + usage.images + usage.seconds + usage.characters + usage.searchUnits === 0;
}

const kinds: readonly Kind[] = [
  { per: 1n, price: (price) => price.image, count: (usage) => usage.images },
  { per: 1n, price: (price) => price.request, count: (usage) => (isEmpty(usage) ? 0 : 1) },
  { per: 1_000n, price: (price) => price.second, count: (usage) => Math.round(usage.seconds * 1_000) },
  { per: 1n, price: (price) => price.character, count: (usage) => usage.characters },
  { per: million, price: (price) => price.input, count: plainInput },
  { per: million, price: (price) => price.cachedInput ?? price.input, count: (usage) => usage.cachedInput },
  { per: million, price: (price) => price.cacheWrite ?? price.input, count: (usage) => usage.cacheWrite },
  { per: million, price: (price) => price.output, count: plainOutput },
  { per: million, price: (price) => price.reasoning ?? price.output, count: (usage) => usage.reasoning },
  { per: million, price: (price) => price.audioInput ?? price.input, count: (usage) => usage.audioInput },
  { per: million, price: (price) => price.audioOutput ?? price.output, count: (usage) => usage.audioOutput },
  { per: 1n, price: (price) => price.searchUnit, count: (usage) => usage.searchUnits },
];

interface Term {
  readonly numerator: bigint;
  /** The same as a number, for the fast way. */
  readonly small: number;
  readonly count: (usage: Usage) => number;
}

function decimal(text: string | undefined): Decimal {
  const parsed = text === undefined ? zero : parseDecimal(text);
  if (parsed === null) throw new TypeError('a price or multiplier is not a decimal string');
  return parsed;
}

function compileTerms(price: Price, multiplier: Decimal): { terms: Term[]; denominator: bigint } {
  const factors = kinds.map((kind) => multiplyDecimals(decimal(kind.price(price)), multiplier));
  const scale = Math.max(...factors.map((factor) => factor.scale));
  const numerators = factors.map(
    (factor, index) => (scaleTo(factor, scale) * unitsPerDollar * million) / (kinds[index] as Kind).per,
  );
  const denominator = 10n ** BigInt(scale) * million;
  const divisor = numerators.reduce(greatestCommonDivisor, denominator);
  const terms = kinds.map((kind, index) => {
    const numerator = (numerators[index] as bigint) / divisor;
    return { numerator, small: Number(numerator), count: kind.count };
  });
  return { terms: terms.filter((term) => term.numerator > 0n), denominator: denominator / divisor };
}

function countOf(term: Term, usage: Usage): number {
  const count = term.count(usage);
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError('a usage count is not a whole number');
  return count;
}

/**
 * Quota of one model in one group: sum of price × multiplier × 500000 × count, rounded half up once. Tokens count per
 * million; `input` is charged without its cached parts, `output` without reasoning. `quota` throws RangeError for counts
 * that are no whole numbers and for results above 2^53.
 */
export function compileRate(price: Price, multiplier: string): Rate {
  const { terms, denominator } = compileTerms(price, decimal(multiplier));
  const half = Number(denominator);
  const whole = 2 * half;
  const exact = (usage: Usage): number => {
    let sum = 0n;
    for (const term of terms) sum += BigInt(countOf(term, usage)) * term.numerator;
    return divideHalfUp(sum, denominator);
  };
  const quota = (usage: Usage): number => {
    let sum = 0;
    for (const term of terms) sum += countOf(term, usage) * term.small;
    const doubled = 2 * sum + half;
    // Every partial sum is below the last one, so one look at the end tells whether all were exact.
    return doubled < Number.MAX_SAFE_INTEGER ? (doubled - (doubled % whole)) / whole : exact(usage);
  };
  return { quota };
}
