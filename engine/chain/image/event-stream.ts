/** The stream of one image request towards its client: heartbeats while a vendor works, events in pieces (spec 6.1). */
import type { ClientImageEvent, ImageCall, ImageWriter, StreamForm } from '../../contract/image.ts';
import { eventStream } from '../../wire/sse.ts';
import type { LiveExchange } from '../exchange.ts';

const events: StreamForm = { contentType: eventStream, heartbeat: ': ping\n\n' };

export class ImageStream {
  /** An image event (no heartbeat) went to the client: another channel would repeat it. */
  eventSent = false;
  /** Between two pieces of an event there is room for nothing else. */
  insideEvent = false;
  private readonly exchange: LiveExchange;
  private readonly call: ImageCall;
  private readonly writer: ImageWriter;
  private readonly form: StreamForm;
  private heartbeat: NodeJS.Timeout | null = null;
  /** Goes on where the client keeps the stream waiting. */
  private wake: (() => void) | null = null;

  constructor(exchange: LiveExchange, call: ImageCall, writer: ImageWriter) {
    this.exchange = exchange;
    this.call = call;
    this.writer = writer;
    this.form = writer.stream ?? events;
  }

  /** Comments keep the connection alive, one every `interval` ms; the first one decides for status 200. */
  startHeartbeat(interval: number): void {
    const heartbeat = Buffer.from(this.form.heartbeat);
    this.heartbeat = setInterval(() => {
      if (this.insideEvent || this.exchange.aborted || this.exchange.settled) return;
      this.begin();
      this.exchange.reply.write(heartbeat);
    }, interval);
  }

  stopHeartbeat(): void {
    if (this.heartbeat !== null) clearInterval(this.heartbeat);
  }

  /** Returns when the client has taken the event, or has gone. */
  async send(event: ClientImageEvent): Promise<void> {
    this.begin();
    this.eventSent = true;
    this.insideEvent = true;
    const { reply } = this.exchange;
    for (const piece of this.writer.encodeEvent(event, this.call)) {
      reply.capture?.data(piece);
      if (!reply.write(piece)) await this.drained();
    }
    this.insideEvent = false;
  }

  clientLeft(): void {
    this.wake?.();
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      this.exchange.reply.drained(resolve);
    });
  }

  private begin(): void {
    const { reply } = this.exchange;
    if (reply.status !== 0) return;
    this.exchange.encodeStreamError = (error, requestId) => this.writer.encodeStreamError(error, requestId);
    const { contentType } = this.form;
    reply.capture?.head(200, contentType);
    reply.stage(200, contentType, ['cache-control', 'no-cache', 'x-accel-buffering', 'no']);
  }
}
