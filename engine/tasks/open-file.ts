/** The finished file as its vendor gives it out: by a path of its API, or at an address of its own. */
import type { VideoFile } from '../contract/video.ts';
import type { Answer } from '../upstream/answer.ts';
import { openUrl } from '../upstream/fetch.ts';
import type { Pools } from '../upstream/pools.ts';
import type { TaskTarget } from './channels.ts';

/** `timeout`: ms for the whole transfer. Throws where the vendor has no such path or does not give the file. */
export function openFile(
  target: TaskTarget,
  file: VideoFile | null,
  pools: Pools,
  timeout: number,
  signal: AbortSignal,
): Promise<Answer> {
  const { origin, timeouts } = target.channel;
  if (file === null || (file.kind === 'content' && target.content === null))
    throw new Error('the vendor has no path for the file');
  const isAuthorized = file.kind === 'content' || file.authorized;
  return openUrl(file.kind === 'content' ? origin + target.content : file.url, pools, {
    trustedOrigin: origin,
    trustedHeaders: isAuthorized ? target.headers : [],
    timeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
    accept: 'video/*',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  });
}
