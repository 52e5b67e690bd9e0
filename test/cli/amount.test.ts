import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../engine/cli/amount.ts';

test.each([
  ['5', 2_500_000],
  ['0.20', 100_000],
  ['0.000002', 1],
  ['-1.50', -750_000],
  ['0', 0],
])('%s USD are %i units', (text, units) => {
  expect(parseUsd(text)).toBe(units);
});

test.each(['', '.5', '1e3', '+1', '1,5', '0.000001', '99999999999999', ' 1'])('%j is no amount', (text) => {
  expect(() => parseUsd(text)).toThrow();
});

test('8 every amount is shown exactly: reading it gives the same units', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), (units) => {
      expect(parseUsd(formatUsd(units))).toBe(units);
      expect(formatUsd(units)).toMatch(/^-?\d+\.\d{2,6}$/);
    }),
  );
});
