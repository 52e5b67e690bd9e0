/** The door of the video tasks: opened with the gateway, asked by the video routes. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Hold } from '../contract/ports.ts';
import type { Log } from '../contract/values.ts';
import type { VideoPage, VideoView } from '../contract/video.ts';
import { GatewayError } from '../errors.ts';
import type { OpenLedger } from '../ledger/index.ts';
import type { ObjectsEngine } from '../objects/engine.ts';
import type { HealthBook } from '../upstream/health.ts';
import type { Pools } from '../upstream/pools.ts';
import { TaskChannels } from './channels.ts';
import { acceptedTask } from './columns.ts';
import { TaskHolds } from './holds.ts';
import { Poller } from './poller.ts';
import { Purger } from './purger.ts';
import type { VideoSettings } from './settings.ts';
import { openSpool } from './spool.ts';
import { Step } from './step.ts';
import type { TaskOrigin, TaskPageFilter, TaskPlace, VideoTask } from './task.ts';
import { type UrlSigner, viewOf } from './view.ts';

export { credentialMark } from './channels.ts';
export type { VideoSettings } from './settings.ts';
export type { TaskOrigin, TaskPlace } from './task.ts';

export interface VideoTasksParts {
  readonly ledger: OpenLedger;
  readonly objects: ObjectsEngine;
  readonly pools: Pools;
  readonly health: HealthBook;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly settings: () => VideoSettings;
  /** ms that a signed URL is good for. */
  readonly urlLifetime: number;
  readonly log: Log;
}

/** Takes the holds of open tasks again and empties the folder of files on their way; nothing is polled before `start`. */
export async function openVideoTasks(parts: VideoTasksParts): Promise<VideoTasks> {
  const spoolFolder = join(parts.dataDirectory, 'incoming-videos');
  await openSpool(spoolFolder);
  const holds = new TaskHolds(parts.ledger);
  await holds.restore();
  return new VideoTasks(parts, holds, spoolFolder);
}

const idPattern = /^video_[0-9a-f]{32}$/;

export const createTaskId = (): string => `video_${randomBytes(16).toString('hex')}`;

const lost = () => new GatewayError('internal_error', undefined, { cause: new Error('the lease was lost') });

const tooMany = (most: number) =>
  new GatewayError(
    'concurrency_limit_exceeded',
    `This key has ${most} videos in the making, as many as it may. Submit again when one of them has ended.`,
    { retryAfter: 5 },
  );

const missing = (id: string) =>
  new GatewayError('video_not_found', `The video \`${id.slice(0, 80)}\` does not exist. See GET /v1/videos.`);

export class VideoTasks {
  readonly channels: TaskChannels;
  readonly settings: () => VideoSettings;
  private readonly parts: VideoTasksParts;
  private readonly holds: TaskHolds;
  private readonly poller: Poller;
  private readonly purger: Purger;
  private readonly signer: UrlSigner;
  /** Whose leases this process's are. */
  private readonly owner = randomBytes(9).toString('base64url');

  constructor(parts: VideoTasksParts, holds: TaskHolds, spoolFolder: string) {
    const { ledger, objects, pools, health, settings, log, urlLifetime } = parts;
    const { owner } = this;
    const now = Date.now;
    this.parts = parts;
    this.holds = holds;
    this.settings = settings;
    this.channels = new TaskChannels(pools, health);
    this.signer = { sign: (key) => objects.sign(key), lifetime: urlLifetime };
    const { channels } = this;
    const store = ledger.tasks;
    const stepParts = { store, owner, holds, channels, objects, pools, spoolFolder, settings, now, log };
    const run = (task: VideoTask, signal: AbortSignal) => new Step(stepParts, task, signal).run();
    this.poller = new Poller({ store, owner, settings, now, log, run });
    this.purger = new Purger({ store, owner, objects, settings, now, log });
  }

  /** The configuration must be known by then. */
  start(): void {
    this.poller.start();
    this.purger.start();
  }

  /** `grace`: ms for running steps before they are broken off. */
  async close(grace: number): Promise<void> {
    await Promise.all([this.purger.close(), this.poller.close(grace)]);
  }

  /** The task is in the database, before any vendor hears of it. Throws GatewayError where the key has too many. */
  async begin(origin: TaskOrigin): Promise<void> {
    const { lease, openPerKey } = this.settings();
    this.poller.keep(origin.id);
    try {
      if (!(await this.parts.ledger.tasks.insert(origin, this.owner, Date.now() + lease, openPerKey)))
        throw tooMany(openPerKey);
    } catch (error) {
      this.poller.let(origin.id);
      throw error;
    }
  }

  /** A vendor has accepted it: from here on it is polled, and `hold` is its own. */
  async accept(origin: TaskOrigin, place: TaskPlace, hold: Hold | null): Promise<VideoView> {
    const dueAt = Date.now() + this.settings().pollInterval;
    // First: the poller may be quick.
    if (hold !== null) this.holds.keep(origin.id, hold);
    try {
      if (!(await this.parts.ledger.tasks.save(origin.id, this.owner, { place, dueAt }, true))) throw lost();
    } catch (error) {
      this.holds.drop(origin.id);
      throw error;
    }
    this.poller.let(origin.id);
    // Nothing may fail from here on: the vendor works, and the hold is the task's.
    return viewOf(acceptedTask(origin, place), this.signer, Date.now());
  }

  /** No vendor has accepted it. */
  async discard(id: string): Promise<void> {
    try {
      await this.parts.ledger.tasks.discard(id, this.owner);
    } catch (error) {
      this.parts.log.error({ err: error, task: id }, 'a video task that no vendor accepted could not be removed');
    } finally {
      this.poller.let(id);
    }
  }

  /** Throws GatewayError `video_not_found`, also where it is another key's. */
  async get(id: string, keyId: number): Promise<VideoView> {
    return viewOf(await this.find(id, keyId), this.signer, Date.now());
  }

  /** Throws GatewayError `video_not_found` where `after` is none of the key's. */
  async page(filter: TaskPageFilter): Promise<VideoPage> {
    const { after } = filter;
    const page = after === null || idPattern.test(after) ? await this.parts.ledger.tasks.page(filter) : null;
    if (page === null) throw missing(after ?? '');
    const now = Date.now();
    const videos = await Promise.all(page.tasks.map((task) => viewOf(task, this.signer, now)));
    return { videos, hasMore: page.hasMore };
  }

  /** Removes a task that has ended, with its file. Throws GatewayError. */
  async remove(id: string, keyId: number): Promise<void> {
    const { open, objectKey } = await this.find(id, keyId);
    if (open)
      throw new GatewayError('video_not_finished', 'The video is still being made. Delete it when it has ended.');
    if (objectKey !== null) await this.parts.objects.delete(objectKey);
    if (!(await this.parts.ledger.tasks.remove(id))) throw missing(id);
  }

  private async find(id: string, keyId: number): Promise<VideoTask> {
    const task = idPattern.test(id) ? await this.parts.ledger.tasks.find(id, keyId) : null;
    if (task === null) throw missing(id);
    return task;
  }
}
