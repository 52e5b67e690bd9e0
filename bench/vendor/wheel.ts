/** Whatever is sent bit by bit at one interval, spread over its milliseconds: not all speak at once. */
interface Ticking {
  /** False when it is over. */
  next(): boolean;
}

class Wheel {
  private readonly slots: Set<Ticking>[];
  private newest = 0;
  private turn = 0;
  private due = performance.now();

  constructor(interval: number) {
    this.slots = Array.from({ length: Math.max(1, interval) }, () => new Set<Ticking>());
    setInterval(() => this.advance(), 1);
  }

  add(ticking: Ticking): void {
    this.slots[this.newest++ % this.slots.length]!.add(ticking);
  }

  private advance(): void {
    for (const now = performance.now(); this.due <= now; this.due++) {
      const slot = this.slots[this.turn++ % this.slots.length]!;
      for (const one of slot) if (!one.next()) slot.delete(one);
    }
  }
}

const wheels = new Map<number, Wheel>();

/** Calls `next` every `interval` ms until it answers false. */
export function tick(ticking: Ticking, interval: number): void {
  const wheel = wheels.get(interval) ?? new Wheel(interval);
  wheels.set(interval, wheel);
  wheel.add(ticking);
}
