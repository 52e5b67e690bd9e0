/** Pixel sizes, aspect ratios and resolutions of videos, turned into one another for the vendor that needs them. */
import type { VideoRequest } from '../../contract/video.ts';
import { compileNearestRatio, parsePixelSize } from '../../image-rules.ts';

export interface VideoShape {
  /** `16:9` */
  readonly aspectRatio: string | null;
  /** `720p` */
  readonly resolution: string | null;
}

/** Short sides in pixels up to which a resolution is enough. */
const tiers = [
  { resolution: '480p', side: 480 },
  { resolution: '720p', side: 720 },
  { resolution: '1080p', side: 1080 },
] as const;

/** What a request says of its shape, a pixel size read as ratio and resolution. Throws where it is near none of `ratios`. */
export function compileShapeOf(ratios: readonly string[]): (request: VideoRequest) => VideoShape {
  const nearest = compileNearestRatio(ratios);
  return ({ size, aspectRatio, resolution }) => {
    if (size === null) return { aspectRatio, resolution };
    const pixels = parsePixelSize(size);
    const side = Math.min(pixels.width, pixels.height);
    const tier = tiers.find((one) => side <= one.side)?.resolution ?? '4k';
    return { aspectRatio: aspectRatio ?? nearest(pixels).name, resolution: resolution ?? tier };
  };
}
