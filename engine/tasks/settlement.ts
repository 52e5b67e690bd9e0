/** The one usage row of a task: its key is the request id of the submission. */
import { compileRate } from '../config/rate.ts';
import { noUsage, type Usage, type UsageRow } from '../contract/usage.ts';
import type { VideoTask } from './task.ts';

/** HTTP statuses that the usage log shows for tasks that ended badly. */
const statusByCode: Readonly<Record<string, number>> = {
  moderation_blocked: 400,
  vendor_refused_request: 400,
  interrupted: 500,
  no_channel_available: 503,
  upstream_timeout: 504,
  video_expired: 504,
};

/** What is owed: the film that was made and stored, or nothing. */
function usageOf(task: VideoTask): Usage {
  if (task.ending !== 'stored') return noUsage;
  const seconds = Math.min(task.usedSeconds ?? task.seconds, task.seconds);
  return { ...noUsage, seconds, source: task.usedMeasured ? 'measured' : 'estimated' };
}

/** At the prices of the submission. Throws RangeError where they make no amount. */
export function usageRowOf(task: VideoTask, now: number): UsageRow {
  const usage = usageOf(task);
  const isGood = task.ending === 'stored';
  const code = isGood ? null : task.ending === 'unstored' ? 'storage_failed' : (task.errorCode ?? 'upstream_error');
  return {
    requestId: task.requestId,
    time: task.createdAt,
    userId: task.userId,
    keyId: task.keyId,
    endpoint: task.endpoint,
    model: task.model,
    group: task.group,
    multiplier: task.multiplier,
    channel: task.place?.channel ?? null,
    attempts: task.place?.attempts ?? 0,
    images: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    quota: compileRate(task.price, task.multiplier).quota(usage),
    status: code === null ? 200 : (statusByCode[code] ?? 502),
    outcome: isGood ? 'ok' : 'error',
    code,
    usageSource: usage.source,
    durationMs: Math.max(0, now - task.createdAt),
    firstByteMs: null,
    seconds: usage.seconds,
    characters: 0,
    searchUnits: 0,
    audioInputTokens: 0,
    audioOutputTokens: 0,
  };
}
