/** Removes tasks that ended long ago, with their files, a few at a time; several gateways share the work by leases. */
import type { Log } from '../contract/values.ts';
import type { ObjectsEngine } from '../objects/engine.ts';
import { Repetition } from '../wire/repetition.ts';
import type { VideoSettings } from './settings.ts';
import type { TaskStore, VideoTask } from './task.ts';

export interface PurgerParts {
  readonly store: TaskStore;
  readonly owner: string;
  readonly objects: Pick<ObjectsEngine, 'delete'>;
  readonly settings: () => VideoSettings;
  readonly now: () => number;
  readonly log: Log;
}

const batch = 20;
/** Leases for which what could not be removed rests, so that what is behind it has its turn. */
const restsFor = 10;
/** ms between two looks. */
const longestPause = 60_000;
const shortestPause = 50;

export class Purger {
  private readonly parts: PurgerParts;
  private readonly looks = new Repetition(() => this.look());

  constructor(parts: PurgerParts) {
    this.parts = parts;
  }

  start(): void {
    this.looks.start(shortestPause);
  }

  /** Resolves when the file that is being deleted is gone. */
  close(): Promise<void> {
    return this.looks.close();
  }

  /** Answers when to look again. */
  private async look(): Promise<number> {
    const { store, owner, settings, now, log } = this.parts;
    const { retention, lease } = settings();
    const pause = Math.max(shortestPause, Math.min(longestPause, retention / 4));
    try {
      const ended = retention > 0 ? await store.takeEnded(owner, now() - retention, now(), now() + lease, batch) : [];
      const kept: string[] = [];
      for (const task of ended) if (!(await this.remove(task))) kept.push(task.id);
      if (kept.length > 0 && !this.looks.closed) await store.renew(owner, kept, now() + restsFor * lease);
      // A store that deletes nothing is not pressed.
      if (ended.length === batch && kept.length < batch) return shortestPause;
    } catch (error) {
      log.error({ err: error }, 'video tasks whose retention is over cannot be read');
    }
    return pause;
  }

  /** The file first: a crash between the two leaves a row, and a later look repeats both. */
  private async remove({ id, objectKey }: VideoTask): Promise<boolean> {
    if (this.looks.closed) return false;
    const { store, objects, log } = this.parts;
    try {
      if (objectKey !== null) await objects.delete(objectKey);
      return await store.remove(id);
    } catch (error) {
      log.error({ err: error, task: id }, 'a video whose retention is over could not be removed and will be later');
      return false;
    }
  }
}
