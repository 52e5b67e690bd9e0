import { expect, test } from 'vitest';
import { parseTime } from '../../engine/cli/options.ts';

test.each([
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31T12:30', '2027-01-31T12:30:00.000Z'],
  ['2027-01-31 12:30:15', '2027-01-31T12:30:15.000Z'],
  ['2027-01-31T12:30:15Z', '2027-01-31T12:30:15.000Z'],
  ['2027-01-31T12:30+02:00', '2027-01-31T10:30:00.000Z'],
])('%s is UTC unless it says otherwise, wherever the machine stands', (text, time) => {
  expect(new Date(parseTime(text)).toISOString()).toBe(time);
});

test.each([
  '',
  'tomorrow',
  '2027-02-29',
  '2027-13-01',
  '2027-01-31T25:00',
  '2027-01-31T12',
  '31.01.2027',
  '1893456000',
])('"%s" is no time', (text) => {
  expect(() => parseTime(text)).toThrow(/A time looks like 2027-01-31/);
});
