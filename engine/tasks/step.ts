/**
 * What is done for a task each time it is due. Every step begins with what the row says and ends with a row that the
 * next one, of this process or another, can begin with: a crash anywhere costs a repetition and never a charge.
 */
import { rm } from 'node:fs/promises';
import { asFailure } from '../chain/attempt-failure.ts';
import type { Log } from '../contract/values.ts';
import type { VideoFault, VideoState } from '../contract/video.ts';
import type { ObjectsEngine } from '../objects/engine.ts';
import { cleanMessage, type Failure } from '../upstream/failure.ts';
import type { Pools } from '../upstream/pools.ts';
import type { TaskChannels, TaskTarget } from './channels.ts';
import type { TaskHolds } from './holds.ts';
import { keepFile, objectKeyOf } from './keep-file.ts';
import { openFile } from './open-file.ts';
import { pollVendor } from './poll.ts';
import type { VideoSettings } from './settings.ts';
import { usageRowOf } from './settlement.ts';
import { spool } from './spool.ts';
import type { TaskChanges, TaskEnding, TaskPlace, TaskStore, VideoTask } from './task.ts';
import { guessedProgress, nextPoll, nextTry } from './timing.ts';

export interface StepParts {
  readonly store: TaskStore;
  /** Whose leases the steps run under. */
  readonly owner: string;
  readonly holds: TaskHolds;
  readonly channels: TaskChannels;
  readonly objects: ObjectsEngine;
  readonly pools: Pools;
  /** Folder for files on their way. */
  readonly spoolFolder: string;
  readonly settings: () => VideoSettings;
  readonly now: () => number;
  readonly log: Log;
}

/** Another worker has the task now: what this one found out counts no more. */
class LeaseLost extends Error {}

/** A refusal that was heard so often in a row is meant. */
const refusalsMeant = 3;

export class Step {
  private readonly parts: StepParts;
  private readonly signal: AbortSignal;
  private task: VideoTask;

  constructor(parts: StepParts, task: VideoTask, signal: AbortSignal) {
    this.parts = parts;
    this.task = task;
    this.signal = signal;
  }

  /** Never rejects: what fails is logged and tried again when the lease has ended. */
  async run(): Promise<void> {
    try {
      await this.proceed();
    } catch (error) {
      const fields = { err: error, task: this.task.id };
      if (error instanceof LeaseLost) this.parts.log.warn(fields, 'a video task was taken over by another gateway');
      else this.parts.log.error(fields, 'a step of a video task failed and will be repeated');
    }
  }

  private proceed(): Promise<void> {
    const { ending, place, status, deadlineAt } = this.task;
    if (ending !== null) return this.settle();
    // Only a crash between the row and the vendor's answer leaves it so, and what became of it nobody can tell.
    if (place === null) return this.fail('interrupted', 'The gateway stopped while it submitted the video.');
    const target = this.parts.channels.find(place);
    if (target === null) return this.waitForChannel(place);
    if (status === 'completed') return this.keep(target);
    if (this.parts.now() >= deadlineAt)
      return this.fail('upstream_timeout', 'The vendor did not finish the video in time.');
    return this.poll(target);
  }

  private async save(changes: TaskChanges, release = false): Promise<void> {
    const { store, owner } = this.parts;
    if (!(await store.save(this.task.id, owner, changes, release))) throw new LeaseLost('the lease has ended');
    this.task = { ...this.task, ...changes };
  }

  private later(wait: number, changes: TaskChanges): Promise<void> {
    return this.save({ ...changes, dueAt: this.parts.now() + wait }, true);
  }

  private async poll(target: TaskTarget): Promise<void> {
    let state: VideoState;
    try {
      state = await pollVendor(target, this.signal);
    } catch (error) {
      return this.pollFailed(error);
    }
    if (state.state === 'failed') return this.fail(state.code, state.message);
    if (state.state === 'completed') return this.finished(target, state);
    const { now, settings } = this.parts;
    const age = now() - this.task.createdAt;
    const told = state.progress ?? (state.state === 'queued' ? 0 : guessedProgress(age));
    const progress = Math.max(this.task.progress, Math.min(99, told));
    const status = this.task.status === 'in_progress' ? 'in_progress' : state.state;
    await this.later(nextPoll(settings(), age), { status, progress, failures: 0, missingSince: null });
  }

  private async pollFailed(error: unknown): Promise<void> {
    if (this.signal.aborted) return this.later(0, {});
    const failure = asFailure(error);
    if (failure === null) throw error;
    const failures = this.task.failures + 1;
    const { reason, status, message } = failure;
    this.parts.log.info({ ...this.facts(), reason, status, detail: message, failures }, 'a video could not be polled');
    if (reason === 'moderation') return this.fail('moderation_blocked', failure.message);
    if (isRefusal(failure) && failures >= refusalsMeant)
      return this.fail('vendor_refused_request', `The vendor no longer knows the video: ${failure.message}`);
    await this.later(nextTry(this.parts.settings(), failures - 1, failure.retryAfter), { failures });
  }

  private async finished(target: TaskTarget, state: Extract<VideoState, { state: 'completed' }>): Promise<void> {
    const { seconds, file } = state;
    await this.save({
      status: 'completed',
      progress: 100,
      storage: 'storing',
      file,
      usedSeconds: seconds ?? this.task.seconds,
      usedMeasured: seconds !== null,
      completedAt: this.parts.now(),
      failures: 0,
    });
    await this.keep(target);
  }

  /** From the vendor into the object store. */
  private async keep(target: TaskTarget): Promise<void> {
    const { objects, pools, spoolFolder, settings } = this.parts;
    const { maximumBytes, downloadTimeout } = settings();
    let changes: TaskChanges;
    try {
      // The address may have run out since the last try.
      if (this.task.failures > 0) await this.renewAddress(target);
      const answer = await openFile(target, this.task.file, pools, downloadTimeout, this.signal);
      const file = await spool(answer, spoolFolder, maximumBytes);
      try {
        if (this.signal.aborted) return await this.later(0, {});
        await keepFile(objects, await this.objectKeyFor(file.contentType), file);
      } finally {
        await rm(file.path, { force: true });
      }
      const { bytes, sha256, contentType } = file;
      changes = { ending: 'stored', bytes, sha256, contentType };
    } catch (error) {
      return this.keepingFailed(error);
    }
    await this.save(changes);
    await this.settle();
  }

  /** Written down before anything is stored: a crash leaves no object that no task knows. */
  private async objectKeyFor(contentType: string): Promise<string> {
    const before = this.task.objectKey;
    const objectKey = objectKeyOf(this.task, contentType);
    await this.save({ objectKey });
    // An earlier try got a file of another type.
    if (before !== null && before !== objectKey) await this.parts.objects.delete(before);
    return objectKey;
  }

  private async renewAddress(target: TaskTarget): Promise<void> {
    const state = await pollVendor(target, this.signal);
    if (state.state === 'completed') await this.save({ file: state.file });
  }

  private async keepingFailed(error: unknown): Promise<void> {
    if (this.signal.aborted) return this.later(0, {});
    if (error instanceof LeaseLost) throw error;
    const { log, settings } = this.parts;
    const failures = this.task.failures + 1;
    log.warn({ err: error, ...this.facts(), failures }, 'a video could not be stored');
    if (failures < settings().storeAttempts) return this.later(nextTry(settings(), failures - 1, null), { failures });
    const errorMessage = 'The file could not be fetched from the vendor and stored. Nothing was charged.';
    await this.end('unstored', { errorCode: 'storage_failed', errorMessage });
  }

  /** A reload may have taken the channel away by mistake: it has some time to come back. */
  private async waitForChannel(place: TaskPlace): Promise<void> {
    const { now, settings, log } = this.parts;
    const since = this.task.missingSince ?? now();
    if (now() - since >= settings().channelGrace) {
      const message = 'The channel that makes this video was removed.';
      if (this.task.status !== 'completed') return this.fail('no_channel_available', message);
      return this.end('unstored', { errorCode: 'no_channel_available', errorMessage: message });
    }
    if (this.task.missingSince === null)
      log.warn({ ...this.facts(), channel: place.channel }, 'the channel of a video task is not in the configuration');
    await this.later(nextTry(settings(), 1, null), { missingSince: since });
  }

  private fail(errorCode: VideoFault, message: string): Promise<void> {
    return this.end('failed', { errorCode, errorMessage: cleanMessage(message) });
  }

  /** The end is written before it is settled: whoever repeats the settling comes to the same amount. */
  private async end(ending: TaskEnding, changes: TaskChanges): Promise<void> {
    await this.save({ ...changes, ending });
    await this.settle();
  }

  private async settle(): Promise<void> {
    const { holds, now, store } = this.parts;
    const { id, held, ending, place } = this.task;
    if (held !== null) await holds.settle(id, usageRowOf(this.task, now()));
    if (ending === 'stored') return this.save({ storage: 'ready', open: false }, true);
    if (ending === 'unstored') {
      await this.dropObject();
      return this.save({ storage: 'failed', open: false }, true);
    }
    const completedAt = this.task.completedAt ?? now();
    await this.save({ status: 'failed', storage: 'failed', completedAt, open: false }, true);
    // Its client was never told of it.
    if (place === null) await store.remove(id);
  }

  /** Of what nobody paid for nothing is kept. What cannot be deleted now goes with its row. */
  private async dropObject(): Promise<void> {
    const { objectKey } = this.task;
    if (objectKey === null) return;
    try {
      await this.parts.objects.delete(objectKey);
    } catch (error) {
      this.parts.log.warn(
        { err: error, ...this.facts() },
        'what was stored of a failed video could not be deleted yet',
      );
    }
  }

  private facts() {
    const { id, requestId, place } = this.task;
    return { task: id, requestId, channel: place?.channel ?? null };
  }
}

/** The vendor has something against the question itself, and will have next time. */
function isRefusal({ reason, status }: Failure): boolean {
  return reason === 'status' && status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status);
}
