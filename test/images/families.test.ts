import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImageFields } from '../../engine/plugin.ts';
import { pixelsOf } from '../../simulator/vendors/gemini/image-sizes.ts';
import { compileRules, normalized, pngFile, refusal, shippedModel, shippedRatios } from './support.ts';

type Fields = Partial<ImageFields>;
const references = (count: number) => ({
  operation: 'edit' as const,
  references: Array.from({ length: count }, () => pngFile()),
});

describe('alpha', () => {
  const specifications = [
    ['alpha-image-1k', '1024x1024'],
    ['alpha-image-2k', '2048x2048'],
    ['alpha-image-4k', '3840x2160'],
  ] as const;
  it.each(specifications)('2.5 %s draws %s in high quality', (model, size) => {
    const { settings } = normalized(shippedModel(model), {});
    expect(settings).toEqual({ n: 1, size, quality: 'high', aspectRatio: null, resolution: null });
  });

  it.each(specifications)('2.5 4.2(4) %s overwrites size, quality, aspect_ratio and resolution', (model, size) => {
    const fields: Fields = {
      size: '512x512',
      quality: 'low',
      aspect_ratio: '16:9',
      resolution: '4K',
      image_size: '1K',
    };
    const { settings, claims } = normalized(shippedModel(model), fields);
    expect(settings).toEqual({ n: 1, size, quality: 'high', aspectRatio: null, resolution: null });
    expect(claims).toEqual([]);
  });

  it('2.1 alpha takes n as the vendor can, and refuses more', () => {
    const normalize = shippedModel('alpha-image-1k');
    expect(normalized(normalize, { n: 10 }).settings.n).toBe(10);
    expect(refusal(() => normalized(normalize, { n: 11 }))).toMatchObject({
      code: 'invalid_value',
      status: 400,
      param: 'n',
    });
  });

  it('4.3 alpha limits reference images to sixteen by default', () => {
    const normalize = shippedModel('alpha-image-1k');
    expect(normalized(normalize, {}, references(16)).settings.n).toBe(1);
    expect(refusal(() => normalized(normalize, {}, references(17)))).toMatchObject({
      code: 'too_many_images',
      param: 'image',
    });
  });
});

describe('beta', () => {
  const pro = shippedModel('beta-3-pro-image');
  const flash = shippedModel('beta-3.1-flash-image');
  const shape = (fields: Fields, normalize = pro) => {
    const { aspectRatio, resolution } = normalized(normalize, fields).settings;
    return [aspectRatio, resolution];
  };

  it.each<[string, Fields, string, string]>([
    ['aspect_ratio passes with the same value', { aspect_ratio: '21:9' }, '21:9', '1K'],
    ['resolution passes with the same value', { resolution: '4K' }, '1:1', '4K'],
    ['image_size passes with the same value', { image_size: '2K' }, '1:1', '2K'],
    ['size of 2752x1536 is 16:9 and 2K', { size: '2752x1536' }, '16:9', '2K'],
    ['only quality=high is 2K', { quality: 'high' }, '1:1', '2K'],
    ['no size and no quality is 1:1 and 1K', {}, '1:1', '1K'],
    ['quality=high with aspect_ratio is 2K in that ratio', { quality: 'high', aspect_ratio: '4:5' }, '4:5', '2K'],
    ['quality=high does not outweigh resolution', { quality: 'high', resolution: '1K' }, '1:1', '1K'],
    ['quality=high does not outweigh size', { quality: 'high', size: '1024x1024' }, '1:1', '1K'],
    ['another quality leaves the default', { quality: 'medium' }, '1:1', '1K'],
    ['size of auto says nothing', { size: 'auto' }, '1:1', '1K'],
    ['size of 1536x1024 goes to the nearest ratio', { size: '1536x1024' }, '3:2', '1K'],
    ['size of 1024x1536 goes to the nearest ratio', { size: '1024x1536' }, '2:3', '1K'],
    ['size of 1792x1024 goes to the nearest ratio', { size: '1792x1024' }, '16:9', '1K'],
    ['size of 3840x2160 is 4K', { size: '3840x2160' }, '16:9', '4K'],
    ['size of 1920x1080 is 1K', { size: '1920x1080' }, '16:9', '1K'],
    ['size of 2000x2000 is 2K', { size: '2000x2000' }, '1:1', '2K'],
  ])('2.6 %s', (_, fields, aspectRatio, resolution) => {
    expect(shape(fields)).toEqual([aspectRatio, resolution]);
  });

  it.each(['1:4', '4:1', '1:8', '8:1'])('2.6 the ultra-wide %s is valid only for the flash model', (ratio) => {
    expect(shape({ aspect_ratio: ratio }, flash)).toEqual([ratio, '1K']);
    const error = refusal(() => shape({ aspect_ratio: ratio }));
    expect(error).toMatchObject({ code: 'invalid_value', status: 400, param: 'aspect_ratio' });
    expect(error.message).toContain('`21:9`');
  });

  it('2.6 a size in an ultra-wide ratio is refused where the model cannot draw it', () => {
    expect(shape({ size: '8192x2048' }, flash)).toEqual(['4:1', '4K']);
    expect(refusal(() => shape({ size: '8192x2048' }))).toMatchObject({ code: 'invalid_value', param: 'size' });
  });

  it.each<[string, Fields, string]>([
    ['a ratio outside the list', { aspect_ratio: '7:5' }, 'aspect_ratio'],
    ['a tier outside the list', { resolution: '8K' }, 'resolution'],
    ['a tier in gamma’s spelling', { resolution: '1k' }, 'resolution'],
    ['an image_size outside the list', { image_size: '3K' }, 'image_size'],
    ['a size that is none', { size: 'large' }, 'size'],
    ['a size of zero', { size: '0x1024' }, 'size'],
    ['a size with blanks', { size: '1024 x 1024' }, 'size'],
    ['a size far from every ratio', { size: '1000x100' }, 'size'],
  ])('2.6 %s is refused with its field', (_, fields, param) => {
    expect(refusal(() => shape(fields))).toMatchObject({ code: 'invalid_value', status: 400, param });
  });

  it('2.1 a quality that nobody knows is refused with the allowed ones', () => {
    const error = refusal(() => shape({ quality: 'ultra' }));
    expect(error).toMatchObject({ code: 'unsupported_parameter', param: 'quality' });
    expect(error.message).toContain('`high`');
  });

  it('4.2(3) beta with n other than 1 is rejected', () => {
    expect(normalized(pro, { n: 1 }).settings.n).toBe(1);
    expect(refusal(() => normalized(pro, { n: 2 }))).toMatchObject({ code: 'invalid_value', status: 400, param: 'n' });
  });

  it('4.3 beta takes up to 14 reference images', () => {
    expect(normalized(pro, {}, references(14)).settings.n).toBe(1);
    expect(refusal(() => normalized(pro, {}, references(15)))).toMatchObject({ code: 'too_many_images', status: 400 });
  });

  it('a default or a quality outside the model’s own lists does not load', () => {
    const rules = { ratios: ['1:1'], tiers: ['1K'] };
    expect(() => compileRules('beta', rules)).toThrow('rules.qualityTiers.high');
    expect(() => compileRules('beta', { ...rules, qualityTiers: {}, defaults: { aspectRatio: '3:2' } })).toThrow(
      'rules.defaults.aspectRatio',
    );
    expect(() => compileRules('beta', { ...rules, tierz: [] })).toThrow();
  });
});

describe('gamma', () => {
  const normalize = shippedModel('gamma-imagine-image');
  const settings = (fields: Fields) => normalized(normalize, fields).settings;

  it.each(['auto', '1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2', '21:9', '5:2'])(
    '2.7 aspect_ratio %s is allowed',
    (ratio) => expect(settings({ aspect_ratio: ratio }).aspectRatio).toBe(ratio),
  );

  it('2.7 further ratios of the same form are a matter of the list', () => {
    const wider = compileRules('gamma', { ratios: ['1:1', '32:9'], tiers: ['1k'] });
    expect(normalized(wider, { aspect_ratio: '32:9' }).settings.aspectRatio).toBe('32:9');
    expect(refusal(() => settings({ aspect_ratio: '32:9' }))).toMatchObject({
      code: 'invalid_value',
      param: 'aspect_ratio',
    });
  });

  it.each(['1k', '2k'])('2.7 resolution %s is allowed', (tier) => {
    expect(settings({ resolution: tier }).resolution).toBe(tier);
  });

  it.each(['1K', '4k', ''])('2.7 resolution “%s” is refused with the allowed ones', (tier) => {
    const error = refusal(() => settings({ resolution: tier }));
    expect(error).toMatchObject({ code: 'invalid_value', status: 400, param: 'resolution' });
    expect(error.message).toContain('`1k`, `2k`');
  });

  it('2.7 quality low and medium pass, auto leaves the choice to the vendor', () => {
    expect(['low', 'medium', 'auto'].map((quality) => settings({ quality }).quality)).toEqual(['low', 'medium', null]);
  });

  it('2.7 quality high is refused as unsupported with the allowed ones', () => {
    const error = refusal(() => settings({ quality: 'high' }));
    expect(error).toMatchObject({ code: 'unsupported_parameter', status: 400, param: 'quality' });
    expect(error.message).toContain('`low`, `medium`, `auto`');
  });

  it.each([1, 10])('2.7 n of %i is allowed', (n) => expect(settings({ n }).n).toBe(n));

  it('2.7 n of 11 is refused', () => {
    expect(refusal(() => settings({ n: 11 }))).toMatchObject({ code: 'invalid_value', status: 400, param: 'n' });
  });

  it.each([
    ['1024x1024', '1:1', '1k'],
    ['1536x1024', '3:2', '1k'],
    ['1024x1536', '2:3', '1k'],
    ['1792x1024', '16:9', '2k'],
    ['1280x720', '16:9', '1k'],
    ['2048x2048', '1:1', '2k'],
    ['720x1280', '9:16', '1k'],
  ])('2.7 size %s becomes %s and %s', (size, aspectRatio, resolution) => {
    expect(settings({ size })).toMatchObject({ size: null, aspectRatio, resolution });
  });

  it('2.7 the middle tier takes its range where the model has it', () => {
    const middle = compileRules('gamma', { ratios: ['1:1'], tiers: ['2k', '1.5k', '1k'] });
    const tierOf = (size: string) => normalized(middle, { size }).settings.resolution;
    expect(['1280x1280', '1281x1281', '1664x1664', '1665x1665'].map(tierOf)).toEqual(['1k', '1.5k', '1.5k', '2k']);
  });

  it('nothing said is nothing sent', () => {
    expect(settings({})).toEqual({ n: 1, size: null, quality: null, aspectRatio: null, resolution: null });
    expect(settings({ aspect_ratio: 'auto', size: '1024x1024' }).aspectRatio).toBe('1:1');
  });

  it('2.1 image_size is an alias for beta only', () => {
    expect(refusal(() => settings({ image_size: '1k' }))).toMatchObject({
      code: 'unsupported_parameter',
      param: 'image_size',
    });
  });

  it('4.3 gamma takes up to 5 reference images', () => {
    expect(normalized(normalize, {}, references(5)).settings.n).toBe(1);
    expect(refusal(() => normalized(normalize, {}, references(6)))).toMatchObject({
      code: 'too_many_images',
      status: 400,
    });
  });
});

describe('sizes', () => {
  const side = fc.integer({ min: 1, max: 99_999 });
  const models = ['beta-3-pro-image', 'beta-3.1-flash-image', 'gamma-imagine-image'] as const;
  const valueOfRatio = (ratio: string): number => {
    const [width, height] = ratio.split(':').map(Number) as [number, number];
    return width / height;
  };

  it.each(models)('2.6 2.7 %s: any size gives an allowed ratio within 15 % and a tier, or a 400', (model) => {
    const normalize = shippedModel(model);
    fc.assert(
      fc.property(side, side, (width, height) => {
        try {
          const { aspectRatio, resolution } = normalized(normalize, { size: `${width}x${height}` }).settings;
          expect(Math.abs(Math.log(width / height / valueOfRatio(aspectRatio!)))).toBeLessThan(Math.log(1.15) + 1e-9);
          expect(resolution).toMatch(/^[124][kK]$/);
          // What conversion answers is itself allowed.
          normalized(normalize, { aspect_ratio: aspectRatio, resolution });
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_value', param: 'size', status: 400 });
        }
      }),
    );
  });

  /** Sizes near every ratio there is, and some way beyond. */
  const nearRatios = fc
    .record({
      long: fc.integer({ min: 64, max: 9_000 }),
      slope: fc.double({ min: 0, max: Math.log(10), noNaN: true }),
      tall: fc.boolean(),
    })
    .map(({ long, slope, tall }) => {
      const short = Math.max(1, Math.round(long / Math.exp(slope)));
      return tall ? { width: short, height: long } : { width: long, height: short };
    });
  const errorOf = (ratio: string, { width, height }: { width: number; height: number }): number =>
    Math.abs(Math.log(width / height) - Math.log(valueOfRatio(ratio)));

  it.each(models)('2.6 2.7 %s: the nearest ratio is taken, and only what is far from all is refused', (model) => {
    const normalize = shippedModel(model);
    const ratios = shippedRatios(model).filter((ratio) => ratio !== 'auto');
    fc.assert(
      fc.property(nearRatios, (size) => {
        const least = Math.min(...ratios.map((ratio) => errorOf(ratio, size)));
        fc.pre(Math.abs(least - Math.log(1.15)) > 1e-6);
        const convert = () => normalized(normalize, { size: `${size.width}x${size.height}` }).settings;
        if (least > Math.log(1.15)) expect(refusal(convert)).toMatchObject({ code: 'invalid_value', param: 'size' });
        else expect(errorOf(convert().aspectRatio!, size)).toBeLessThan(least + 1e-6);
      }),
      { numRuns: 500 },
    );
  });

  it.each(models)('2.6 2.7 %s: a size that is larger on both sides has no lower tier', (model) => {
    const normalize = shippedModel(model);
    const order = ['1k', '2k', '4k'];
    const tierOf = (width: number, height: number): number =>
      order.indexOf(normalized(normalize, { size: `${width}x${height}` }).settings.resolution!.toLowerCase());
    const [lowest, highest] = [tierOf(512, 512), tierOf(9_000, 9_000)];
    expect([lowest, highest]).toEqual([0, model.startsWith('gamma') ? 1 : 2]);
    fc.assert(
      fc.property(fc.integer({ min: 16, max: 4_000 }), fc.integer({ min: 16, max: 4_000 }), (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        for (const [width, height] of [
          [1, 1],
          [2, 3],
          [21, 9],
        ] as const)
          expect(tierOf(less * width, less * height)).toBeLessThanOrEqual(tierOf(more * width, more * height));
      }),
    );
  });

  it.each(['beta-3-pro-image', 'beta-3.1-flash-image'] as const)(
    '2.6 %s: every size that the vendor draws stands for its ratio and tier',
    (model) => {
      const normalize = shippedModel(model);
      for (const aspectRatio of shippedRatios(model))
        for (const resolution of ['1K', '2K', '4K']) {
          const size = pixelsOf(aspectRatio, resolution).join('x');
          expect(normalized(normalize, { size }).settings, size).toMatchObject({ aspectRatio, resolution });
        }
    },
  );

  it.each(['beta-3-pro-image', 'beta-3.1-flash-image'] as const)(
    '2.6 %s: 1K reaches half as far again as its pixels, 2K a quarter, 4K takes the rest',
    (model) => {
      const normalize = shippedModel(model);
      const tierOf = (size: string) => normalized(normalize, { size }).settings.resolution;
      expect(['1x1', '1536x1536', '2048x1152'].map(tierOf)).toEqual(['1K', '1K', '1K']);
      expect(['1537x1537', '2049x1153', '2560x2560', '3413x1920'].map(tierOf)).toEqual(['2K', '2K', '2K', '2K']);
      expect(['2561x2561', '3414x1920', '1920x3414', '9999x9999'].map(tierOf)).toEqual(['4K', '4K', '4K', '4K']);
    },
  );

  it('2.7 gamma: up to 1664 pixels a side are 1k, more are 2k', () => {
    const normalize = shippedModel('gamma-imagine-image');
    const tierOf = (size: string) => normalized(normalize, { size }).settings.resolution;
    expect(['1x1', '1664x1664', '1664x936', '936x1664'].map(tierOf)).toEqual(['1k', '1k', '1k', '1k']);
    expect(['1665x1665', '1680x945', '945x1680', '9999x9999'].map(tierOf)).toEqual(['2k', '2k', '2k', '2k']);
  });

  const mirrored = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '1:4', '4:1', '1:8', '8:1'];
  it.each([
    ['beta', ['1K', '2K', '4K']],
    ['gamma', ['1k', '2k']],
  ])('2.6 2.7 %s: wide and tall are treated alike, and a ratio does not depend on the scale', (family, tiers) => {
    const normalize = compileRules(family, { ratios: mirrored, tiers });
    const convert = (size: string) => {
      try {
        return normalized(normalize, { size }).settings;
      } catch {
        return null;
      }
    };
    const small = fc.integer({ min: 1, max: 9999 });
    fc.assert(
      fc.property(small, small, fc.integer({ min: 2, max: 10 }), (width, height, factor) => {
        const wide = convert(`${width}x${height}`);
        const tall = convert(`${height}x${width}`);
        expect(tall?.resolution).toBe(wide?.resolution);
        expect(tall?.aspectRatio?.split(':').reverse().join(':')).toBe(wide?.aspectRatio);
        expect(convert(`${width * factor}x${height * factor}`)?.aspectRatio).toBe(wide?.aspectRatio);
      }),
    );
  });
});

it('passthrough changes nothing', () => {
  const normalize = compileRules('passthrough', {});
  const settings = { n: 3, size: '7x7', quality: 'odd', aspectRatio: 'x', resolution: 'y' };
  expect(normalized(normalize, { n: 3 }, { settings })).toMatchObject({ settings, claims: [] });
});
