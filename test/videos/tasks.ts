/** Tasks for tests of the store and of those who work on it. */
import type { VideoSettings } from '../../engine/tasks/settings.ts';
import type { TaskOrigin } from '../../engine/tasks/task.ts';

export const settings: VideoSettings = {
  pollInterval: 10,
  deadline: 60_000,
  lease: 1000,
  channelGrace: 1000,
  concurrency: 8,
  maximumBytes: 1000,
  downloadTimeout: 1000,
  storeAttempts: 3,
  openPerKey: 100,
  retention: 0,
};

export const place = {
  channel: 'one',
  credential: 'c',
  credentialIndex: 0,
  protocol: 'openai-videos',
  vendorModel: 'sora-2',
  vendorId: 'v',
  attempts: 1,
};

export const originOf = (index: number, over: Partial<TaskOrigin> = {}): TaskOrigin => ({
  id: `video_${String(index).padStart(32, '0')}`,
  requestId: `req_${index}`,
  userId: 1,
  keyId: 1,
  endpoint: '/v1/videos',
  model: 'demo-video',
  group: 'default',
  multiplier: '1',
  price: { second: '0.10' },
  held: 5,
  prompt: 'A kite',
  seconds: 4,
  size: null,
  createdAt: Date.now() - 1000 + index,
  deadlineAt: Date.now() + 60_000,
  ...over,
});
