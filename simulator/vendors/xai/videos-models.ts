interface VideoModel {
  readonly resolutions: readonly string[];
  /** Takes a last frame and key frames. */
  readonly frames: boolean;
}

export const VIDEO_MODELS: Record<string, VideoModel> = {
  'grok-imagine-video': { resolutions: ['480p', '720p'], frames: false },
  'grok-imagine-video-1.5': { resolutions: ['480p', '720p', '1080p'], frames: true },
};
