/**
 * Deadlines without a timer each: requests with the same duration expire in the order they started, so one list per
 * duration and one shared tick serve all of them. Starting and cancelling is O(1); the precision is one tick.
 */
import { performance } from 'node:perf_hooks';

const tickMs = 50;

/** ms; Node's own timers fire at once where they are told to wait longer. */
export const longestTimer = 2 ** 31 - 1;

export class Deadline {
  at = 0;
  readonly expired: () => void;
  list: DeadlineList | null = null;
  previous: Deadline | null = null;
  next: Deadline | null = null;

  constructor(expired: () => void) {
    this.expired = expired;
  }

  /** Counts anew, `duration` ms (a positive number) from now. */
  restart(duration: number): void {
    this.list?.remove(this);
    this.at = performance.now() + duration;
    listFor(duration).add(this);
    ticking ??= setInterval(tick, tickMs);
  }

  cancel(): void {
    this.list?.remove(this);
  }
}

class DeadlineList {
  private first: Deadline | null = null;
  private last: Deadline | null = null;

  add(deadline: Deadline): void {
    deadline.list = this;
    deadline.previous = this.last;
    if (this.last === null) this.first = deadline;
    else this.last.next = deadline;
    this.last = deadline;
  }

  remove(deadline: Deadline): void {
    if (deadline.previous === null) this.first = deadline.next;
    else deadline.previous.next = deadline.next;
    if (deadline.next === null) this.last = deadline.previous;
    else deadline.next.previous = deadline.previous;
    deadline.list = deadline.previous = deadline.next = null;
  }

  /** Fires what is due; answers whether anything is left. */
  expire(now: number): boolean {
    while (this.first !== null && this.first.at <= now) {
      const due = this.first;
      this.remove(due);
      due.expired();
    }
    return this.first !== null;
  }
}

const lists = new Map<number, DeadlineList>();
let ticking: NodeJS.Timeout | null = null;

function tick(): void {
  const now = performance.now();
  let busy = false;
  for (const [duration, list] of lists) {
    if (list.expire(now)) busy = true;
    // Durations that are what is left of something else hardly come twice.
    else lists.delete(duration);
  }
  if (busy || ticking === null) return;
  clearInterval(ticking);
  ticking = null;
}

function listFor(duration: number): DeadlineList {
  let list = lists.get(duration);
  if (list === undefined) {
    list = new DeadlineList();
    lists.set(duration, list);
  }
  return list;
}

/** Calls `expired` once after `duration` ms (a positive number), unless it is cancelled before. */
export function startDeadline(duration: number, expired: () => void): Deadline {
  const deadline = new Deadline(expired);
  deadline.restart(duration);
  return deadline;
}
