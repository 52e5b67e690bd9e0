/** Charges the parts of a session one after another, each before its last event goes out. */
import type { NumberedPart, SessionPart } from '../../contract/realtime.ts';
import type { Log } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Observer } from '../settle.ts';

export class Parts {
  private readonly exchange: LiveExchange;
  private readonly observer: Observer;
  private readonly log: Log;
  private count = 0;
  private since = performance.now();
  private running = 0;
  private last: Promise<GatewayError | null> = Promise.resolve(null);

  constructor(exchange: LiveExchange, observer: Observer, log: Log) {
    this.exchange = exchange;
    this.observer = observer;
    this.log = log;
  }

  /** Resolves when all hooks have run: with the first GatewayError that one threw, or null. Never rejects. */
  charge(part: SessionPart): Promise<GatewayError | null> {
    this.last = this.running++ === 0 ? this.book(part) : this.last.then(() => this.book(part));
    return this.last;
  }

  /** Calls back when nothing is being charged, at once where that is now. */
  whenBooked(listener: () => void): void {
    if (this.running === 0) listener();
    else void this.last.then(listener);
  }

  private async book(part: SessionPart): Promise<GatewayError | null> {
    const now = performance.now();
    const numbered = { ...part, number: ++this.count, duration: Math.round(now - this.since) };
    this.since = now;
    const refusal = await this.run(numbered);
    this.running--;
    if (!isUnpaid(refusal)) this.observer.charged(this.exchange, part.usage);
    return refusal;
  }

  private async run(part: NumberedPart): Promise<GatewayError | null> {
    let refusal: GatewayError | null = null;
    for (const hook of this.exchange.compiled.onPart) {
      try {
        await hook(this.exchange, part);
      } catch (error) {
        if (error instanceof GatewayError) refusal ??= error;
        if (!(error instanceof GatewayError) || error.status >= 500)
          this.log.error({ err: error, requestId: this.exchange.id }, 'a plugin failed at a part of a session');
      }
    }
    return refusal;
  }
}

/** The client must not take what could not be booked for a whole answer. */
export const isUnpaid = (refusal: GatewayError | null): boolean => refusal !== null && refusal.status >= 500;
