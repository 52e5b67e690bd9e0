/**
 * Looks for due tasks, leases them and runs their steps, so many at a time. While a step runs its lease is renewed; a
 * process that dies renews nothing, and others take over.
 */
import type { Log } from '../contract/values.ts';
import { Repetition } from '../wire/repetition.ts';
import type { VideoSettings } from './settings.ts';
import type { TaskStore, VideoTask } from './task.ts';

export interface PollerParts {
  readonly store: TaskStore;
  readonly owner: string;
  readonly settings: () => VideoSettings;
  readonly now: () => number;
  readonly log: Log;
  /** Must not reject. */
  run(task: VideoTask, signal: AbortSignal): Promise<void>;
}

/** ms between two looks at the database. */
const longestPause = 1000;
const shortestPause = 10;

export class Poller {
  private readonly parts: PollerParts;
  /** Tasks under this process's lease: those whose step runs, and those that are being submitted. */
  private readonly leased = new Set<string>();
  /** What runs, each with what breaks it off: one signal for all would gather their listeners. */
  private readonly steps = new Map<AbortController, Promise<void>>();
  private readonly looks = new Repetition(() => this.look());
  private readonly renewals = new Repetition(() => this.renew());

  constructor(parts: PollerParts) {
    this.parts = parts;
  }

  start(): void {
    this.looks.start(0);
    this.renewals.start(this.renewalPause());
  }

  /** The lease of a task that is being submitted is renewed until `let`. */
  keep(id: string): void {
    this.leased.add(id);
  }

  let(id: string): void {
    this.leased.delete(id);
  }

  /** Takes no more tasks, gives the running steps `grace` ms and then breaks them off; leases are given back. */
  async close(grace: number): Promise<void> {
    await this.looks.close();
    const breaking = setTimeout(() => {
      for (const controller of this.steps.keys()) controller.abort();
    }, grace);
    await Promise.all(this.steps.values());
    clearTimeout(breaking);
    await this.renewals.close();
    try {
      await this.parts.store.releaseAll(this.parts.owner);
    } catch (error) {
      this.parts.log.error({ err: error }, 'the leases of video tasks could not be given back; they will end');
    }
  }

  /** Answers when to look again. */
  private async look(): Promise<number> {
    const { store, owner, settings, now, log } = this.parts;
    const { lease, concurrency, pollInterval } = settings();
    try {
      const free = concurrency - this.steps.size;
      const tasks = free > 0 ? await store.take(owner, now(), now() + lease, free) : [];
      for (const task of tasks) this.begin(task);
      if (tasks.length > 0 && tasks.length === free) return shortestPause;
    } catch (error) {
      log.error({ err: error }, 'due video tasks cannot be read');
      return longestPause;
    }
    return Math.max(shortestPause, Math.min(longestPause, pollInterval / 4));
  }

  private begin(task: VideoTask): void {
    // Its own step still runs, but was too slow to renew the lease.
    if (this.leased.has(task.id)) return;
    this.leased.add(task.id);
    const controller = new AbortController();
    const step = this.parts.run(task, controller.signal).finally(() => {
      this.leased.delete(task.id);
      this.steps.delete(controller);
    });
    this.steps.set(controller, step);
  }

  private renewalPause(): number {
    return this.parts.settings().lease / 3;
  }

  /** Goes on while the last steps end. */
  private async renew(): Promise<number> {
    const { store, owner, settings, now, log } = this.parts;
    try {
      if (this.leased.size > 0) await store.renew(owner, [...this.leased], now() + settings().lease);
    } catch (error) {
      log.error({ err: error }, 'the leases of video tasks could not be renewed');
    }
    return this.renewalPause();
  }
}
