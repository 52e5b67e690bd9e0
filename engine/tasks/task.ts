/** A video task as the database has it. Times are ms since 1970, amounts integer quota units. */
import type { Price } from '../contract/model.ts';
import type { VideoFile, VideoStatus, VideoStorage } from '../contract/video.ts';

/** What a submission says once and for all: all that settling needs, so that no later configuration changes a price. */
export interface TaskOrigin {
  readonly id: string;
  /** Of the submission: the key of the usage row. */
  readonly requestId: string;
  readonly userId: number;
  readonly keyId: number;
  readonly endpoint: string;
  readonly model: string;
  readonly group: string;
  readonly multiplier: string;
  readonly price: Price;
  /** What billing holds for it; null where the chain has no billing. */
  readonly held: number | null;
  readonly prompt: string;
  /** As they were ordered. */
  readonly seconds: number;
  readonly size: string | null;
  readonly createdAt: number;
  readonly deadlineAt: number;
}

/** Who makes it. */
export interface TaskPlace {
  readonly channel: string;
  /** Which credential of the channel, by a hash that tells it again, and by its place for one that was replaced. */
  readonly credential: string;
  readonly credentialIndex: number;
  readonly protocol: string;
  readonly vendorModel: string;
  readonly vendorId: string;
  readonly attempts: number;
}

/**
 * How it ended, written before the money is settled, so that whoever goes on after a crash comes to the same end:
 * `stored` is charged; `failed` (no video) and `unstored` (no file) are released.
 */
export type TaskEnding = 'stored' | 'failed' | 'unstored';

export interface VideoTask extends TaskOrigin {
  /** Null until a vendor has accepted it. */
  readonly place: TaskPlace | null;
  readonly status: VideoStatus;
  /** Percent. */
  readonly progress: number;
  readonly storage: VideoStorage;
  readonly ending: TaskEnding | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Where the vendor has the finished file. */
  readonly file: VideoFile | null;
  /** What is charged: never more than was ordered. `usedMeasured`: the vendor said so. */
  readonly usedSeconds: number | null;
  readonly usedMeasured: boolean;
  readonly objectKey: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly contentType: string | null;
  readonly completedAt: number | null;
  /** False once it is settled: nothing more will be done. */
  readonly open: boolean;
  readonly dueAt: number;
  /** In a row; of polls, then of storing. */
  readonly failures: number;
  /** Since when its channel is missing in the configuration. */
  readonly missingSince: number | null;
}

/** What a step may change. */
export type TaskChanges = Partial<
  Pick<
    VideoTask,
    | 'place'
    | 'status'
    | 'progress'
    | 'storage'
    | 'ending'
    | 'errorCode'
    | 'errorMessage'
    | 'file'
    | 'usedSeconds'
    | 'usedMeasured'
    | 'objectKey'
    | 'bytes'
    | 'sha256'
    | 'contentType'
    | 'completedAt'
    | 'open'
    | 'dueAt'
    | 'failures'
    | 'missingSince'
  >
>;

export interface TaskPageFilter {
  readonly keyId: number;
  readonly limit: number;
  /** The last task of the page before. */
  readonly after: string | null;
  readonly order: 'asc' | 'desc';
}

/**
 * The tasks of all gateways on one database. Who works on a task has a lease on it: `owner` until `until`. Leases are
 * taken by one atomic statement, and what a worker writes counts only while the lease is its own.
 */
export interface TaskStore {
  /**
   * Writes a new task under a lease; it is committed when this resolves. False: the key has `most` open tasks already,
   * nothing was written.
   */
  insert(origin: TaskOrigin, owner: string, until: number, most: number): Promise<boolean>;
  /** Takes away what no vendor has accepted. */
  discard(id: string, owner: string): Promise<void>;
  /** Leases up to `limit` due tasks whose leases have ended. */
  take(owner: string, now: number, until: number, limit: number): Promise<readonly VideoTask[]>;
  /** Leases up to `limit` settled tasks that ended before `endedBefore`, the oldest first. */
  takeEnded(
    owner: string,
    endedBefore: number,
    now: number,
    until: number,
    limit: number,
  ): Promise<readonly VideoTask[]>;
  /** Writes changes under the lease, and gives it back where `release` is set. False: the lease was lost, nothing was written. */
  save(id: string, owner: string, changes: TaskChanges, release: boolean): Promise<boolean>;
  renew(owner: string, ids: readonly string[], until: number): Promise<void>;
  /** Gives back every lease of an owner. */
  releaseAll(owner: string): Promise<void>;
  /** Null where the key has no such task, or it was accepted by no vendor yet. */
  find(id: string, keyId: number): Promise<VideoTask | null>;
  page(filter: TaskPageFilter): Promise<{ readonly tasks: readonly VideoTask[]; readonly hasMore: boolean } | null>;
  /** Removes a settled task; false where there is none. */
  remove(id: string): Promise<boolean>;
  /** Every task whose hold has not ended. */
  open(): Promise<readonly Pick<VideoTask, 'id' | 'userId' | 'keyId' | 'held'>[]>;
}
