import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileRate } from '../../engine/config/rate.ts';
import { noUsage, type Price, type Usage } from '../../engine/plugin.ts';
import { parseDecimal } from '../../engine/wire/money.ts';

const usage = (counts: Partial<Usage>): Usage => ({ ...noUsage, ...counts });

/** A decimal string with its value as an exact fraction, made independently of the code under test. */
const decimals = fc
  .record({ whole: fc.integer({ min: 0, max: 9_999 }), digits: fc.integer({ min: 0, max: 6 }), seed: fc.nat(999_999) })
  .map(({ whole, digits, seed }) => {
    const fraction = String(seed).padStart(6, '0').slice(0, digits);
    const text = digits === 0 ? String(whole) : `${whole}.${fraction}`;
    return { text, numerator: BigInt(`${whole}${fraction}`), denominator: 10n ** BigInt(digits) };
  });

const counts = fc.nat(2_000_000);

const tokenUsage = fc
  .record({ plain: counts, cachedInput: counts, cacheWrite: counts, said: counts, reasoning: counts })
  .map(({ plain, cachedInput, cacheWrite, said, reasoning }) =>
    usage({ input: plain + cachedInput + cacheWrite, cachedInput, cacheWrite, output: said + reasoning, reasoning }),
  );

/** Half up, by the definition: the largest integer not above x + 1/2. */
const halfUp = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator - ((2n * numerator + denominator) % (2n * denominator))) / (2n * denominator);

describe('images', () => {
  test.each([
    ['alpha-image-1k', '0.20', '1', 1, 100_000],
    ['alpha-image-2k', '0.20', '1', 2, 200_000],
    ['alpha-image-4k', '0.40', '1', 1, 200_000],
    ['alpha-image-4k, multiplier 0.8', '0.40', '0.8', 3, 480_000],
    ['a price below one unit', '0.0000009', '1', 1, 0],
    ['exactly half a unit is rounded up', '0.000001', '1', 1, 1],
  ])('8 quota = price × multiplier × 500000 × n: %s', (_, image, multiplier, images, expected) => {
    expect(compileRate({ image }, multiplier).quota(usage({ images }))).toBe(expected);
  });

  test('8 the image formula is exact for any price, multiplier and n', () => {
    fc.assert(
      fc.property(decimals, decimals, fc.integer({ min: 0, max: 10 }), (price, multiplier, images) => {
        const numerator = price.numerator * multiplier.numerator * 500_000n * BigInt(images);
        const expected = halfUp(numerator, price.denominator * multiplier.denominator);
        fc.pre(expected <= BigInt(Number.MAX_SAFE_INTEGER));
        expect(compileRate({ image: price.text }, multiplier.text).quota(usage({ images }))).toBe(Number(expected));
      }),
    );
  });

  test('8 tokens of an image that is priced per image change nothing', () => {
    const rate = compileRate({ image: '0.20' }, '1');
    expect(rate.quota(usage({ images: 1, input: 5_000, output: 9_000, reasoning: 100 }))).toBe(100_000);
  });
});

describe('tokens', () => {
  const price: Required<Pick<Price, 'input' | 'output' | 'cachedInput'>> = {
    input: '2.50',
    cachedInput: '0.25',
    output: '10',
  };

  test('8 a million tokens of each kind cost their price', () => {
    const rate = compileRate(price, '1');
    expect(rate.quota(usage({ input: 1_000_000 }))).toBe(1_250_000);
    expect(rate.quota(usage({ input: 1_000_000, cachedInput: 1_000_000 }))).toBe(125_000);
    expect(rate.quota(usage({ input: 1_000_000, cacheWrite: 1_000_000 }))).toBe(1_250_000);
    expect(rate.quota(usage({ output: 1_000_000 }))).toBe(5_000_000);
    expect(rate.quota(usage({ output: 1_000_000, reasoning: 1_000_000 }))).toBe(5_000_000);
  });

  test.each([
    ['cached input', { cachedInput: 1_000_000 }, 'input'],
    ['cache write', { cacheWrite: 1_000_000 }, 'input'],
    ['audio input', { audioInput: 1_000_000 }, 'input'],
    ['reasoning', { reasoning: 1_000_000 }, 'output'],
    ['audio output', { audioOutput: 1_000_000 }, 'output'],
  ] as const)('8 %s without a price of its own costs what all %s costs, and with one that', (_kind, counts, whole) => {
    const used = usage({ [whole]: 1_000_000, ...counts });
    const bare = { input: '2', output: '8' };
    const [name] = Object.keys(counts) as [keyof Price];
    expect(compileRate(bare, '1').quota(used)).toBe(whole === 'input' ? 1_000_000 : 4_000_000);
    expect(compileRate({ ...bare, [name]: '5' }, '1').quota(used)).toBe(2_500_000);
    expect(compileRate({ ...bare, [name]: '0' }, '1').quota(used)).toBe(0);
  });

  test('8 every token is charged once, at the price of its kind, rounded once', () => {
    const all = fc.tuple(decimals, decimals, decimals, decimals, decimals, decimals);
    fc.assert(
      fc.property(all, tokenUsage, ([input, cached, write, output, reasoning, multiplier], used) => {
        const plain = used.input - used.cachedInput - used.cacheWrite;
        const said = used.output - used.reasoning;
        const terms = [
          [input, plain],
          [cached, used.cachedInput],
          [write, used.cacheWrite],
          [output, said],
          [reasoning, used.reasoning],
        ] as const;
        const shared = 10n ** 6n;
        const sum = terms.reduce(
          (total, [term, count]) => total + BigInt(count) * term.numerator * (shared / term.denominator),
          0n,
        );
        const expected = halfUp(sum * multiplier.numerator * 500_000n, shared * multiplier.denominator * 1_000_000n);
        fc.pre(expected <= BigInt(Number.MAX_SAFE_INTEGER));
        const rate = compileRate(
          {
            input: input.text,
            cachedInput: cached.text,
            cacheWrite: write.text,
            output: output.text,
            reasoning: reasoning.text,
          },
          multiplier.text,
        );
        expect(rate.quota(used)).toBe(Number(expected));
      }),
    );
  });

  test('8 more usage never costs less', () => {
    fc.assert(
      fc.property(decimals, decimals, tokenUsage, fc.nat(1_000), (input, output, used, more) => {
        const rate = compileRate({ input: input.text, output: output.text }, '1.5');
        expect(rate.quota({ ...used, input: used.input + more })).toBeGreaterThanOrEqual(rate.quota(used));
      }),
    );
  });
});

describe('other kinds', () => {
  test('8 a request is charged once, and not at all when nothing was delivered', () => {
    const rate = compileRate({ request: '0.01' }, '1');
    expect(rate.quota(usage({ input: 3, output: 4 }))).toBe(5_000);
    expect(rate.quota(usage({ images: 3 }))).toBe(5_000);
    expect(rate.quota(noUsage)).toBe(0);
  });

  test('8 seconds count in thousandths, characters each', () => {
    expect(compileRate({ second: '0.10' }, '1').quota(usage({ seconds: 2.5 }))).toBe(125_000);
    expect(compileRate({ character: '0.000015' }, '1').quota(usage({ characters: 100 }))).toBe(750);
  });
});

describe('bounds', () => {
  test('8 a charge above 2^53 units is refused, one just below is exact', () => {
    const rate = compileRate({ image: '100000000' }, '1');
    expect(rate.quota(usage({ images: 180 }))).toBe(9_000_000_000_000_000);
    expect(() => rate.quota(usage({ images: 181 }))).toThrow(RangeError);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('8 %d images are no count', (images) => {
    expect(() => compileRate({ image: '0.2' }, '1').quota(usage({ images }))).toThrow(RangeError);
  });

  test('8 a price or multiplier that is no decimal string does not compile', () => {
    expect(() => compileRate({ image: '1e3' }, '1')).toThrow(TypeError);
    expect(() => compileRate({ image: '1' }, '-1')).toThrow(TypeError);
  });

  test('8 decimal strings are read exactly', () => {
    expect(parseDecimal('0.20')).toEqual({ value: 20n, scale: 2 });
    expect(parseDecimal('123456789012.123456789012')).toEqual({ value: 123456789012123456789012n, scale: 12 });
    for (const text of ['', '.5', '5.', '1,5', '+1', ' 1', '0x10', '1_000', 'Infinity']) {
      expect(parseDecimal(text)).toBeNull();
    }
  });
});
