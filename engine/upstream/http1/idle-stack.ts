/** The idle connections of one origin: the newest is taken, so that those nobody needs run out. All of it is O(1). */
export interface Stacked {
  older: Stacked | null;
  newer: Stacked | null;
  isIdle: boolean;
}

export class IdleStack<T extends Stacked> {
  private newest: T | null = null;

  push(one: T): void {
    one.older = this.newest;
    if (this.newest !== null) this.newest.newer = one;
    one.isIdle = true;
    this.newest = one;
  }

  pop(): T | null {
    const { newest } = this;
    if (newest !== null) this.remove(newest);
    return newest;
  }

  remove(one: T): void {
    if (!one.isIdle) return;
    if (one.newer === null) this.newest = one.older as T | null;
    else one.newer.older = one.older;
    if (one.older !== null) one.older.newer = one.newer;
    one.older = one.newer = null;
    one.isIdle = false;
  }
}
