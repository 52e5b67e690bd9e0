import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest } from '../../engine/config/nearest.ts';
import { substitute } from '../../engine/config/substitute.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../engine/config/units.ts';

describe('durations and sizes', () => {
  test.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['0s', 0],
  ])('%s', (text, expected) => expect(parseDuration(text)).toBe(expected));

  test.each([
    ['512b', 512],
    ['64kb', 65_536],
    ['1mb', 1_048_576],
    ['2gb', 2_147_483_648],
  ])('%s', (text, expected) => expect(parseSize(text)).toBe(expected));

  test.each(['', '5', 's', '5 s', '-5s', '1.5s', '5S', '5min', '5toString'])('"%s" is neither', (text) => {
    expect(parseDuration(text)).toBeNull();
    expect(parseSize(text)).toBeNull();
  });

  test('what is written for a value is read as the value', () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), (value) => {
        expect(parseDuration(formatDuration(value))).toBe(value);
        expect(parseSize(formatSize(value))).toBe(value);
      }),
    );
  });
});

describe('did you mean', () => {
  const known = ['weight', 'priority', 'vendor', 'models', 'groups'];

  test.each([
    ['wieght', 'weight'],
    ['Weight', 'weight'],
    ['vender', 'vendor'],
    ['model', 'models'],
    ['gruops', 'groups'],
  ])('%s → %s', (word, expected) => expect(nearest(word, known)).toBe(expected));

  test.each(['colour', 'x', '', 'a'.repeat(10_000)])('"%.10s" is near nothing', (word) => {
    expect(nearest(word, known)).toBeNull();
  });

  test('of several the nearest', () => {
    expect(nearest('openai-image', ['openai-chat', 'openai-images', 'xai-images'])).toBe('openai-images');
  });
});

describe('substitution', () => {
  const lookup = {
    environment: { NAME: 'value', EMPTY: '' },
    readFile: (path: string) => (path === 'there' ? { text: 'content' } : { problem: `${path} is missing` }),
  };
  const variable = (expression: string): string => `$\{${expression}}`;
  const textOf = (text: string): string => substitute(text, lookup).text;

  test.each([
    [`a${variable('env:NAME')}b${variable('env:NAME')}`, 'avaluebvalue'],
    [variable('env:OTHER:-default'), 'default'],
    [variable('env:EMPTY:-default'), 'default'],
    [variable('env:OTHER:-'), ''],
    [variable('env:NAME:-default'), 'value'],
    [variable('file:there'), 'content'],
    [`$${variable('env:NAME')}`, variable('env:NAME')],
    ['costs $5', 'costs $5'],
  ])('%s', (text, expected) => expect(textOf(text)).toBe(expected));

  test('a value that looks like a substitution is not resolved again', () => {
    const environment = { NAME: variable('env:SECRET'), SECRET: 'secret' };
    expect(substitute(variable('env:NAME'), { ...lookup, environment }).text).toBe(variable('env:SECRET'));
  });

  test('every part without a value is reported', () => {
    const text = ['env:OTHER', 'env:EMPTY', 'file:gone', 'env:9', 'NAME'].map(variable).join(' ');
    expect(substitute(text, lookup).unresolved.map(({ message }) => message)).toEqual([
      'the environment variable OTHER is not set',
      'the environment variable EMPTY is empty',
      'gone is missing',
      '"9" is no name of an environment variable',
      `unknown substitution ${variable('NAME')}: write ${variable('env:NAME')} or ${variable('file:PATH')}, or $$\{ for a plain $\{`,
    ]);
  });
});
