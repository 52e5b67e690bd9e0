/** One image request at its vendors: attempts, answers whole or in events, storage (spec 4.2, 4.3, 6.1). */
import type {
  DeliveredImage,
  ImageCall,
  ImageEvent,
  ImageProtocol,
  ImageResult,
  ImageWriter,
  ResultImage,
} from '../../contract/image.ts';
import { noUsage, type Outcome, type TokenUsage } from '../../contract/usage.ts';
import type { JsonObject, Log } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import { Answer } from '../../upstream/answer.ts';
import { malformed, vendorFailure } from '../../upstream/failure.ts';
import { headerValue } from '../../upstream/headers.ts';
import { isEventStream } from '../../wire/sse.ts';
import { AttemptFailed, refusalOf, sayable } from '../attempt-failure.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { tryChannels } from '../try-channels.ts';
import { imageRequest } from '../upstream-request.ts';
import { ImageStream } from './event-stream.ts';
import { ImageTally } from './tally.ts';
import { vendorEvents } from './vendor-events.ts';

/** Ten images of 4K in Base64 stay below. */
const largestAnswer = 512 * 1024 * 1024;

/** What all runs of a route share. */
export interface ImageRunParts {
  readonly writer: ImageWriter;
  readonly ending: Ending;
  readonly log: Log;
  /** ms between two comments in a stream that waits for its vendor. */
  readonly heartbeat: number;
}

type StreamDecoder = ReturnType<NonNullable<NonNullable<ImageProtocol['vendor']>['decodeStream']>>;

export class ImageRun {
  private readonly exchange: LiveExchange;
  private readonly call: ImageCall;
  private readonly writer: ImageWriter;
  private readonly ending: Ending;
  private readonly attempts: Attempts;
  private readonly heartbeat: number;
  private readonly stream: ImageStream;
  private readonly tally = new ImageTally();
  private answer: Answer | null = null;
  private current: Try | null = null;
  private stopped: GatewayError | null = null;
  private left = false;
  private readonly givenUp = new AbortController();

  constructor(exchange: LiveExchange, call: ImageCall, parts: ImageRunParts) {
    this.exchange = exchange;
    this.call = call;
    this.writer = parts.writer;
    this.ending = parts.ending;
    this.heartbeat = parts.heartbeat;
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.imageFailover, parts.log);
    this.stream = new ImageStream(exchange, call, parts.writer);
  }

  async run(): Promise<void> {
    this.exchange.onAbort(() => this.clientLeft());
    this.exchange.onExpire = () => this.expire();
    if (this.call.stream) this.stream.startHeartbeat(this.heartbeat);
    try {
      await this.tryChannels();
    } catch (error) {
      this.failed(error);
    } finally {
      this.stream.stopHeartbeat();
    }
  }

  private failed(error: unknown): void {
    // Images of a broken stream that the client already has were delivered.
    const usage = this.stream.eventSent ? this.tally.usage : noUsage;
    // Nothing failed where the client just went away.
    if (this.left) this.ending.leave(this.exchange, { kind: 'aborted', status: 499, code: null, usage });
    else this.ending.fail(this.exchange, this.stopped ?? error, usage);
  }

  private tryChannels(): Promise<void> {
    return tryChannels(this.attempts, {
      attempt: (tried) => this.attempt(tried),
      giveUp: () => this.answer?.abort(),
      stopped: () => this.stopped,
      begun: () => this.stream.eventSent || this.exchange.aborted,
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
    this.tally.addTokens(result.usage);
    if (this.drains()) {
      this.tally.images = Math.min(result.images.length, this.call.settings.n);
      return this.ending.leave(this.exchange, this.outcome());
    }
    const images = await this.store(result);
    if (this.call.stream) return this.streamWhole(images, result);
    const pieces = this.writer.encodeResult(images, result, this.call);
    this.tally.images = images.length;
    this.ending.sendPieces(this.exchange, this.outcome(), pieces);
  }

  /** A vendor that does not stream: its images become the events (spec 6.1). */
  private async streamWhole(images: readonly DeliveredImage[], { usage, extra }: ImageResult): Promise<void> {
    for (const image of images) {
      this.tally.images++;
      // The usage of all images stands once, in the last event.
      const isLast = this.tally.images === images.length;
      await this.stream.send({ type: 'completed', image, usage: isLast ? usage : null, extra });
    }
    this.endStream();
  }

  private async relayEvents(answer: Answer, tried: Try, decode: StreamDecoder): Promise<void> {
    for await (const event of vendorEvents(answer, decode)) {
      await this.relay(event, tried);
      // More images than were asked for are neither delivered nor charged, and what a vendor does with the connection
      // after the last one must not hold it back or spoil it (spec 6.1).
      if (this.tally.images >= this.call.settings.n) break;
    }
    answer.abort();
    if (this.tally.images === 0) throw new AttemptFailed(malformed('the image stream ended without a completed image'));
    this.attempts.succeeded(tried, answer.status);
    this.endStream();
  }

  private async relay(event: ImageEvent, tried: Try): Promise<void> {
    if (event.type === 'error')
      throw new AttemptFailed(vendorFailure(tried.target.channel.vendor, 200, event.error, null));
    if (event.type === 'partial') await this.stream.send(event);
    else await this.relayImage(event.image, event.usage, event.extra);
  }

  private async relayImage(image: ResultImage, usage: TokenUsage | null, extra: JsonObject): Promise<void> {
    this.tally.addTokens(usage);
    if (!this.drains()) {
      const [stored] = await this.store({ created: null, images: [image], usage, extra, refused: 0 });
      if (stored === undefined) throw new GatewayError('upstream_no_image');
      await this.stream.send({ type: 'completed', image: stored, usage, extra });
    }
    this.tally.images++;
  }

  private store(result: ImageResult): Promise<readonly DeliveredImage[]> {
    const hook = this.exchange.compiled.onImages;
    if (hook === null)
      throw new GatewayError('internal_error', undefined, {
        cause: new Error(`the chain ${this.exchange.route.chain} has no plugin that delivers images`),
      });
    return hook(this.exchange, result, this.givenUp.signal);
  }

  /** With `finish` an answer that nobody waited for is as complete as any, and kept for a replay. */
  private endStream(): void {
    if (!this.isWanted()) return this.ending.leave(this.exchange, this.outcome());
    this.ending.complete(this.exchange, this.outcome(), Buffer.from(this.writer.terminator));
  }

  private outcome(): Outcome {
    const { usage } = this.tally;
    return this.exchange.aborted
      ? { kind: 'aborted', status: 499, code: null, usage }
      : { kind: 'ok', status: 200, code: null, usage };
  }

  private clientLeft(): void {
    this.stream.clientLeft();
    // `drain` and `finish` let the vendor end its work: what it made is charged.
    if (this.current !== null && this.current.target.channel.onAbort !== 'cancel') return;
    this.left = this.stopped === null;
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
    if (this.stream.insideEvent) this.exchange.reply.cut();
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    this.answer?.abort();
    this.givenUp.abort();
  }
}
