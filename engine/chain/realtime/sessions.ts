/** The sessions that are open: at a shutdown they are told. */
export interface OpenSession {
  /** Ends it when no answer is on its way. */
  drain(): void;
  /** Ends it now. */
  stop(): void;
}

export class Sessions {
  private readonly open = new Set<OpenSession>();
  private draining = false;

  add(session: OpenSession): void {
    this.open.add(session);
    // It was on its way when the shutdown began.
    if (this.draining) session.drain();
  }

  delete(session: OpenSession): void {
    this.open.delete(session);
  }

  drain(): void {
    this.draining = true;
    for (const session of [...this.open]) session.drain();
  }

  stop(): void {
    for (const session of [...this.open]) session.stop();
  }
}
