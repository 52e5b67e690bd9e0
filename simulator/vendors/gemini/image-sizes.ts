/** Pixels at 1K; the other tiers are this times a half, two and four (documented table of gemini-3.1-flash-image). */
const PIXELS_1K: Record<string, readonly [number, number]> = {
  '1:1': [1024, 1024],
  '2:3': [848, 1264],
  '3:2': [1264, 848],
  '3:4': [896, 1200],
  '4:3': [1200, 896],
  '4:5': [928, 1152],
  '5:4': [1152, 928],
  '9:16': [768, 1376],
  '16:9': [1376, 768],
  '21:9': [1584, 672],
  '1:4': [512, 2048],
  '4:1': [2048, 512],
  '1:8': [384, 3072],
  '8:1': [3072, 384],
};

const TIERS: Record<string, number> = { '512': 0.5, '1K': 1, '2K': 2, '4K': 4 };

export const ALL_RATIOS: readonly string[] = Object.keys(PIXELS_1K);
/** Without the four ultra-wide ones. */
export const BASIC_RATIOS: readonly string[] = ALL_RATIOS.slice(0, 10);

export function pixelsOf(ratio: string, tier: string): readonly [number, number] {
  const [width, height] = PIXELS_1K[ratio]!;
  return [width * TIERS[tier]!, height * TIERS[tier]!];
}
