/**
 * A snapshot: an immutable, fully compiled configuration. A request keeps the one it started with; a reload swaps one
 * reference; the old one is closed when its last request has ended.
 */
import type { Group, Model } from '../contract/model.ts';
import type { Log, MaybePromise } from '../contract/values.ts';
import type { CompiledRoute } from './compiled-route.ts';

export class Snapshot {
  readonly groups: ReadonlyMap<string, Group>;
  readonly models: ReadonlyMap<string, Model>;
  readonly routes: readonly CompiledRoute[];
  readonly slotCount: number;
  private readonly closers: readonly (() => MaybePromise<void>)[];
  private readonly log: Log;
  private running = 0;
  private retired = false;
  private drained: () => void = () => {};
  /** Resolves when the snapshot was retired and its last request has ended. */
  readonly done: Promise<void>;

  constructor(parts: {
    groups: ReadonlyMap<string, Group>;
    models: ReadonlyMap<string, Model>;
    routes: readonly CompiledRoute[];
    slotCount: number;
    closers: readonly (() => MaybePromise<void>)[];
    log: Log;
  }) {
    this.groups = parts.groups;
    this.models = parts.models;
    this.routes = parts.routes;
    this.slotCount = parts.slotCount;
    this.closers = parts.closers;
    this.log = parts.log;
    this.done = new Promise((resolve) => {
      this.drained = resolve;
    });
  }

  get active(): number {
    return this.running;
  }

  enter(): void {
    this.running++;
  }

  leave(): void {
    this.running--;
    if (this.retired && this.running === 0) this.close();
  }

  /** No new request will enter. */
  retire(): void {
    if (this.retired) return;
    this.retired = true;
    if (this.running === 0) this.close();
  }

  private close(): void {
    Promise.allSettled(this.closers.map(async (close) => close())).then((results) => {
      for (const result of results) {
        if (result.status === 'rejected') this.log.error({ err: result.reason }, 'a plugin failed while closing');
      }
      this.drained();
    }, this.drained);
  }
}
