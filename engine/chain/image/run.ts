/** One image request at its vendors: attempts, native or synthetic streaming, heartbeats, storage (spec 4.2, 4.3, 6.1). */

import type {
  ClientImageEvent,
  DeliveredImage,
  ImageCall,
  ImageProtocol,
  ImageResult,
  ImageWriter,
  ResultImage,
  StreamForm,
} from '../../contract/image.ts';
import { noUsage, type TokenUsage, type Usage } from '../../contract/usage.ts';
import type { JsonObject, Log } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { GatewayError } from '../../errors.ts';
import { Answer } from '../../upstream/answer.ts';
import { type Failure, malformed, vendorFailure } from '../../upstream/failure.ts';
import { headerValue } from '../../upstream/headers.ts';
import { eventStream, isEventStream, SseReader } from '../../wire/sse.ts';
import { AttemptFailed, refusalOf, sayable } from '../attempt-failure.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { tryChannels } from '../try-channels.ts';
import { imageRequest } from '../upstream-request.ts';

/** Ten images of 4K in Base64 stay below. */
const largestAnswer = 512 * 1024 * 1024;
const events: StreamForm = { contentType: eventStream, heartbeat: ': ping\n\n' };

/** What all runs of a route share. */
export interface ImageRunParts {
  readonly writer: ImageWriter;
  readonly ending: Ending;
  readonly log: Log;
  /** ms between two comments in a stream that waits for its vendor. */
  readonly heartbeat: number;
}

export class ImageRun {
  private readonly exchange: LiveExchange;
  private readonly call: ImageCall;
  private readonly writer: ImageWriter;
  private readonly ending: Ending;
  private readonly attempts: Attempts;
  private readonly heartbeatMs: number;
  private answer: Answer | null = null;
  private current: Try | null = null;
  private heartbeat: NodeJS.Timeout | null = null;
  private delivered = 0;
  private tokens: TokenUsage | null = null;
  /** An image event (no heartbeat) went to the client: another channel would repeat it. */
  private eventSent = false;
  private insideEvent = false;
  private stopped: GatewayError | null = null;
  /** Goes on where the client keeps the run waiting. */
  private wake: (() => void) | null = null;

  constructor(exchange: LiveExchange, call: ImageCall, parts: ImageRunParts) {
    this.exchange = exchange;
    this.call = call;
    this.writer = parts.writer;
    this.ending = parts.ending;
    this.heartbeatMs = parts.heartbeat;
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.imageFailover, parts.log);
  }

  async run(): Promise<void> {
    this.exchange.onAbort(() => this.clientLeft());
    this.exchange.onExpire = () => this.expire();
    if (this.call.stream) this.startHeartbeat();
    try {
      await this.tryChannels();
    } catch (error) {
      // Images of a broken stream that the client already has were delivered.
      this.ending.fail(this.exchange, this.stopped ?? error, this.eventSent ? this.usage() : noUsage);
    } finally {
      if (this.heartbeat !== null) clearInterval(this.heartbeat);
    }
  }

  private tryChannels(): Promise<void> {
    return tryChannels(this.attempts, {
      attempt: (tried) => this.attempt(tried),
      giveUp: () => this.answer?.abort(),
      stopped: () => this.stopped,
      begun: () => this.eventSent || this.exchange.aborted,
    });
  }

  private async attempt(tried: Try): Promise<void> {
    this.current = tried;
    const { target, credential } = tried;
    const codec = target.images!;
    const request = sayable(() => imageRequest(this.call, target, credential));
    this.answer = Answer.send(target.connections, request);
    const answer = await this.answer.head;
    if (answer.status >= 300)
      throw new AttemptFailed(await refusalOf(answer, target.channel.vendor, (body) => codec.decodeError(body)));
    const isEvents = isEventStream(headerValue(answer.headers, 'content-type'));
    // Events that nobody asked for are not an answer: as JSON they cannot be read.
    if (isEvents && this.call.stream && codec.decodeStream !== undefined)
      return this.relayEvents(answer, tried, codec.decodeStream());
    await this.deliverWhole(codec.decodeReply(await answer.read(largestAnswer)), tried);
  }

  private async deliverWhole(result: ImageResult, tried: Try): Promise<void> {
    this.attempts.succeeded(tried, this.answer!.status);
    this.tokens = result.usage;
    if (this.drains()) {
      this.delivered = Math.min(result.images.length, this.call.settings.n);
      return this.ending.leave(this.exchange, this.outcome());
    }
    const images = await this.store(result);
    if (!this.call.stream) {
      const pieces = this.writer.encodeResult(images, result, this.call);
      this.delivered = images.length;
      return this.ending.sendPieces(this.exchange, this.outcome(), pieces);
    }
    for (const image of images) {
      this.delivered++;
      // The usage of all images stands once, in the last event.
      const usage = this.delivered === images.length ? result.usage : null;
      await this.sendEvent({ type: 'completed', image, usage, extra: result.extra });
    }
    this.endStream();
  }

  private async relayEvents(
    answer: Answer,
    tried: Try,
    decode: ReturnType<NonNullable<NonNullable<ImageProtocol['vendor']>['decodeStream']>>,
  ): Promise<void> {
    const reader = new SseReader();
    const handle = async (frames: ReturnType<SseReader['push']>) => {
      for (const frame of frames) {
        for (const event of decode(frame)) {
          // More images than were asked for are neither delivered nor charged.
          if (this.isComplete()) return;
          if (event.type === 'error') throw new AttemptFailed(this.reported(event.error, tried));
          if (event.type === 'partial') await this.sendEvent(event);
          else await this.deliverCompleted(event.image, event.usage, event.extra);
        }
      }
    };
    for await (const chunk of answer) {
      await handle(framesOf(reader, chunk));
      // What a vendor does with the connection after the last image must not hold it back or spoil it (spec 6.1).
      if (this.isComplete()) break;
    }
    await handle(reader.end());
    answer.abort();
    if (this.delivered === 0) throw new AttemptFailed(malformed('the image stream ended without a completed image'));
    this.attempts.succeeded(tried, answer.status);
    this.endStream();
  }

  private isComplete(): boolean {
    return this.delivered >= this.call.settings.n;
  }

  private async deliverCompleted(image: ResultImage, usage: TokenUsage | null, extra: JsonObject): Promise<void> {
    if (usage !== null) this.tokens = sumOf(this.tokens, usage);
    if (!this.drains()) {
      const [stored] = await this.store({ created: null, images: [image], usage, extra, refused: 0 });
      if (stored === undefined) throw new GatewayError('upstream_no_image');
      await this.sendEvent({ type: 'completed', image: stored, usage, extra });
    }
    this.delivered++;
  }

  private store(result: ImageResult): Promise<readonly DeliveredImage[]> {
    const hook = this.exchange.compiled.onImages;
    if (hook === null)
      throw new GatewayError('internal_error', undefined, {
        cause: new Error(`the chain ${this.exchange.route.chain} has no plugin that delivers images`),
      });
    return hook(this.exchange, result);
  }

  private async sendEvent(event: ClientImageEvent): Promise<void> {
    this.beginStream();
    this.eventSent = true;
    this.insideEvent = true;
    const { reply } = this.exchange;
    for (const piece of this.writer.encodeEvent(event, this.call)) {
      reply.capture?.data(piece);
      if (!reply.write(piece)) await this.drained();
    }
    this.insideEvent = false;
  }

  /** Until the client has read what was written, or has gone. */
  private drained(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      this.exchange.reply.drained(resolve);
    });
  }

  /** With `finish` an answer that nobody waited for is as complete as any, and kept for a replay. */
  private endStream(): void {
    if (!this.isWanted()) return this.ending.leave(this.exchange, this.outcome());
    this.ending.complete(this.exchange, this.outcome(), Buffer.from(this.writer.terminator));
  }

  private get form(): StreamForm {
    return this.writer.stream ?? events;
  }

  private beginStream(): void {
    const { reply } = this.exchange;
    if (reply.status !== 0) return;
    this.exchange.encodeStreamError = (error, requestId) => this.writer.encodeStreamError(error, requestId);
    const { contentType } = this.form;
    reply.capture?.head(200, contentType);
    reply.stage(200, contentType, ['cache-control', 'no-cache', 'x-accel-buffering', 'no']);
  }

  /** Comments keep the connection alive while a vendor works; the first one decides for status 200. */
  private startHeartbeat(): void {
    const heartbeat = Buffer.from(this.form.heartbeat);
    this.heartbeat = setInterval(() => {
      // Between two pieces of an event a comment would be part of its data.
      if (this.insideEvent || this.exchange.aborted || this.exchange.settled) return;
      this.beginStream();
      this.exchange.reply.write(heartbeat);
    }, this.heartbeatMs);
  }

  private reported(error: VendorError, tried: Try): Failure {
    return vendorFailure(tried.target.channel.vendor, 200, error, null);
  }

  private usage(): Usage {
    return { ...noUsage, ...this.tokens, images: this.delivered, source: 'measured' };
  }

  private outcome() {
    const usage = this.usage();
    return this.exchange.aborted
      ? ({ kind: 'aborted', status: 499, code: null, usage } as const)
      : ({ kind: 'ok', status: 200, code: null, usage } as const);
  }

  private clientLeft(): void {
    this.wake?.();
    // `drain` and `finish` let the vendor end its work: what it made is charged.
    if (this.current !== null && this.current.target.channel.onAbort !== 'cancel') return;
    this.stop(new GatewayError('internal_error', 'The client left.'));
  }

  /** The client has gone, and the channel reads on only to learn what is owed. */
  private drains(): boolean {
    return this.exchange.aborted && this.current!.target.channel.onAbort === 'drain';
  }

  /** Someone gets the answer: the client, or with `finish` whoever asks again with its Idempotency-Key. */
  private isWanted(): boolean {
    return !this.exchange.aborted || this.current!.target.channel.onAbort === 'finish';
  }

  private expire(): void {
    this.stop(new GatewayError('upstream_timeout', `No image within ${this.exchange.route.timeout / 1000} s.`));
    // A client that does not read: in the middle of an event there is no room for an error.
    if (this.insideEvent) this.exchange.reply.cut();
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    this.answer?.abort();
  }
}

/** A frame that never ends is the vendor's fault. */
function framesOf(reader: SseReader, chunk: Buffer): ReturnType<SseReader['push']> {
  try {
    return reader.push(chunk);
  } catch (error) {
    throw new AttemptFailed(malformed(error instanceof Error ? error.message : String(error)));
  }
}

function sumOf(one: TokenUsage | null, other: TokenUsage): TokenUsage {
  if (one === null) return other;
  return {
    input: one.input + other.input,
    cachedInput: one.cachedInput + other.cachedInput,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}
