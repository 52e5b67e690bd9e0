import { expect, it } from 'vitest';
import type { Hooks, Host, ImageFields } from '../../engine/plugin.ts';
import conflicts from '../../plugins/conflicts/conflicts.ts';
import { exchangeOf, normalized, refusal, shippedModel } from './support.ts';

const { onRequest } = conflicts.create({}, {} as Host) as Hooks;
const check = (model: string, fields: Partial<ImageFields>) =>
  onRequest!(exchangeOf(normalized(shippedModel(model), fields)));

const beta = 'beta-3-pro-image';
const gamma = 'gamma-imagine-image';

it.each<[string, string, Partial<ImageFields>, readonly string[]]>([
  [
    'a size whose ratio differs from aspect_ratio',
    beta,
    { size: '1024x1024', aspect_ratio: '16:9' },
    ['1024x1024', '1:1', '16:9'],
  ],
  [
    'a size whose tier differs from resolution',
    beta,
    { size: '1024x1024', resolution: '4K' },
    ['1024x1024', '1K', '4K'],
  ],
  ['resolution and its alias that differ', beta, { resolution: '1K', image_size: '2K' }, ['image_size', '1K', '2K']],
  [
    'a gamma size whose ratio differs from aspect_ratio',
    gamma,
    { size: '1280x720', aspect_ratio: '1:1' },
    ['1280x720', '16:9', '1:1'],
  ],
  [
    'a gamma size whose tier differs from resolution',
    gamma,
    { size: '2048x2048', resolution: '1k' },
    ['2048x2048', '2k', '1k'],
  ],
])('4.2(2) %s is refused, naming both', (_, model, fields, words) => {
  const error = refusal(() => check(model, fields));
  expect(error).toMatchObject({ code: 'conflicting_parameters', status: 400 });
  expect(Object.keys(fields)).toContain(error.param);
  for (const word of [...Object.keys(fields), ...words]) expect(error.message).toContain(word);
});

it.each<[string, string, Partial<ImageFields>]>([
  [
    'a size that agrees with aspect_ratio and resolution',
    beta,
    { size: '2752x1536', aspect_ratio: '16:9', resolution: '2K' },
  ],
  ['resolution and its alias that agree', beta, { resolution: '2K', image_size: '2K' }],
  ['quality beside resolution', beta, { quality: 'high', resolution: '1K' }],
  ['a gamma size that agrees', gamma, { size: '1280x720', aspect_ratio: '16:9', resolution: '1k' }],
  ['an aspect_ratio of auto beside a size', gamma, { size: '1280x720', aspect_ratio: 'auto' }],
  ['nothing', beta, {}],
])('4.2(2) %s is no conflict', (_, model, fields) => {
  expect(check(model, fields)).toBeUndefined();
});

it('4.2(4) alpha ignores fields, even where they contradict each other', () => {
  expect(check('alpha-image-2k', { size: '1024x1024', aspect_ratio: '16:9', resolution: '4K' })).toBeUndefined();
});

it('a hostile value is bounded in the message', () => {
  const claims = [
    { param: 'size', setting: 'aspectRatio', value: '1:1' },
    { param: 'aspect_ratio', setting: 'aspectRatio', value: '16:9' },
  ] as const;
  const call = normalized(() => {}, { size: 'x\r\n'.repeat(5000), aspect_ratio: '16:9' }, { claims });
  const { message } = refusal(() => onRequest!(exchangeOf(call)));
  expect(message.length).toBeLessThan(300);
  expect(message).not.toMatch(/[\r\n]/);
});
