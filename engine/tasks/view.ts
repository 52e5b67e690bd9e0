/** A task as its client sees it: nothing of the vendor, and a signed URL once the file is stored. */
import type { VideoView } from '../contract/video.ts';
import type { VideoTask } from './task.ts';

export interface UrlSigner {
  sign(key: string): Promise<string>;
  /** ms that a signed URL is good for. */
  readonly lifetime: number;
}

const seconds = (time: number): number => Math.floor(time / 1000);

/** An end shows only once it is settled: who reads `failed` or `ready` finds the money where it belongs. */
export async function viewOf(task: VideoTask, signer: UrlSigner, now: number): Promise<VideoView> {
  const isReady = task.storage === 'ready' && task.objectKey !== null;
  return {
    id: task.id,
    model: task.model,
    status: task.status,
    progress: task.progress,
    createdAt: seconds(task.createdAt),
    completedAt: task.completedAt === null ? null : seconds(task.completedAt),
    prompt: task.prompt,
    seconds: task.seconds,
    size: task.size,
    error: errorOf(task),
    storage: {
      status: task.storage,
      bytes: isReady ? task.bytes : null,
      contentType: isReady ? task.contentType : null,
      sha256: isReady ? task.sha256 : null,
      error: task.status === 'completed' && task.storage === 'failed' ? task.errorMessage : null,
    },
    url: isReady ? await signer.sign(task.objectKey!) : null,
    urlExpiresAt: isReady ? seconds(now + signer.lifetime) : null,
  };
}

function errorOf({ status, errorCode, errorMessage }: VideoTask): VideoView['error'] {
  if (status !== 'failed') return null;
  return { code: errorCode ?? 'upstream_error', message: errorMessage ?? 'The video could not be made.' };
}
