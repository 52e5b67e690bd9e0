/** Work that is done again and again: a turn, a pause of its own choice, the next turn. */
export class Repetition {
  private readonly turn: () => Promise<number>;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;
  private over = false;

  /** `turn` answers after how many ms the next one begins; it must not reject. */
  constructor(turn: () => Promise<number>) {
    this.turn = turn;
  }

  get closed(): boolean {
    return this.over;
  }

  /** The first turn begins in so many ms. The process does not live on for it. */
  start(wait: number): void {
    if (this.over) return;
    this.timer = setTimeout(() => {
      this.running = this.turn().then((next) => this.start(next));
    }, wait);
    this.timer.unref();
  }

  /** No turn begins any more; resolves when the one that runs has ended. */
  async close(): Promise<void> {
    this.over = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
  }
}
