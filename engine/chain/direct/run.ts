/** One direct request at its vendors: attempts, then the answer whole, event by event or as bytes that pass. */
import type { DirectCall, DirectReply } from '../../contract/direct.ts';
import { noUsage, type Outcome, type Usage } from '../../contract/usage.ts';
import type { Log } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { GatewayError } from '../../errors.ts';
import { Answer } from '../../upstream/answer.ts';
import { answerTooLarge, type Failure, malformed, vendorFailure } from '../../upstream/failure.ts';
import { headerValue } from '../../upstream/headers.ts';
import { AttemptFailed, refusalOf, sayable } from '../attempt-failure.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { tryChannels } from '../try-channels.ts';
import { type Delivering, type Progress, relayBytes, relayEvents } from './delivery.ts';
import { directRequest } from './request.ts';
import { usageOf } from './usage.ts';

const largestReply = 128 * 1024 * 1024;
/** Of what a vendor still says behind its last event. */
const largestRest = 256 * 1024;
const nothing = Buffer.alloc(0);
const tooLarge = 'The answer is larger than 128 MB. Ask for less at a time, or for Base64.';

export class DirectRun implements Delivering {
  readonly exchange: LiveExchange;
  private readonly call: DirectCall;
  /** Why it must not go on. */
  private stopped: GatewayError | null = null;
  progress: Progress | null = null;
  private readonly ending: Ending;
  private readonly attempts: Attempts;
  private readonly uploadFault: () => unknown;
  private answer: Answer | null = null;
  private current: Try | null = null;
  private wake: (() => void) | null = null;
  /** The vendor had to wait for the client: if it breaks off then, that says nothing about its channel. */
  private heldBack = false;

  /** `uploadFault`: what the disk said where it could not give an upload back; else null. */
  constructor(exchange: LiveExchange, call: DirectCall, ending: Ending, log: Log, uploadFault: () => unknown) {
    this.exchange = exchange;
    this.call = call;
    this.ending = ending;
    this.uploadFault = uploadFault;
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.failover, log);
  }

  /** Ends the exchange, whatever happens. */
  async run(): Promise<void> {
    const { exchange } = this;
    exchange.onExpire = () =>
      this.stop(new GatewayError('upstream_timeout', `No complete answer within ${exchange.route.timeout / 1000} s.`));
    exchange.onAbort(() => this.clientLeft());
    try {
      await this.tryChannels();
    } catch (error) {
      this.ending.fail(exchange, this.stopped ?? error, this.progress === null ? noUsage : this.usage(this.progress));
    }
  }

  async write(bytes: Buffer): Promise<void> {
    const { reply } = this.exchange;
    reply.capture?.data(bytes);
    if (reply.write(bytes)) return;
    this.heldBack = true;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      reply.drained(resolve);
    });
    if (this.stopped !== null) throw this.stopped;
  }

  begin(contentType: string, headers: readonly string[]): void {
    const { reply } = this.exchange;
    this.attempts.begun(this.current!, this.answer!.status);
    reply.capture?.head(200, contentType);
    reply.stage(200, contentType, headers);
  }

  complete(closing: Buffer): void {
    const { exchange } = this;
    this.attempts.succeeded(this.current!, this.answer!.status);
    const outcome = this.outcome(this.usage(this.progress!));
    const isWanted = !exchange.aborted || this.current!.target.channel.onAbort === 'finish';
    if (isWanted) this.ending.complete(exchange, outcome, closing);
    else this.ending.leave(exchange, outcome);
    // What a vendor still says behind its last event is no part of the answer.
    this.answer!.read(largestRest).catch(() => {});
  }

  reported(error: VendorError, status: number): Failure {
    return vendorFailure(this.current!.target.channel.vendor, status, error, null);
  }

  private tryChannels(): Promise<void> {
    const { reply } = this.exchange;
    return tryChannels(this.attempts, {
      attempt: (tried) => this.attempt(tried),
      giveUp: () => this.answer?.abort(),
      stopped: () => this.stopped ?? this.lostUpload() ?? this.brokenWhileHeld(),
      begun: () => reply.begun || this.exchange.aborted,
    });
  }

  private lostUpload(): GatewayError | null {
    const cause = this.uploadFault();
    if (cause === null) return null;
    return new GatewayError('internal_error', 'The gateway could not read the upload again. Try again.', { cause });
  }

  private brokenWhileHeld(): GatewayError | null {
    if (!this.heldBack) return null;
    return new GatewayError('upstream_error', 'The vendor broke an answer off that was read slowly.');
  }

  private async attempt(tried: Try): Promise<void> {
    this.current = tried;
    this.progress = null;
    const { target, credential } = tried;
    const bridge = target.direct!;
    const request = sayable(() => directRequest(this.exchange, this.call, target, credential));
    this.answer = Answer.send(target.connections, request);
    const { status, headers } = await this.answer.head;
    if (status >= 300)
      throw new AttemptFailed(await refusalOf(this.answer, target.channel.vendor, (body) => bridge.decodeError(body)));
    const contentType = headerValue(headers, 'content-type');
    const chunks = this.answer[Symbol.asyncIterator]();
    const { value: first = nothing } = await chunks.next();
    const shape = bridge.shape(this.call, contentType, first);
    if (shape === 'whole') return this.deliverWhole(first, chunks, contentType, tried);
    if (shape === 'bytes') return relayBytes(this, bridge.bytesType(this.call, contentType), first, chunks);
    const events = shape === 'events' ? bridge.events(this.call) : null;
    if (events === null)
      throw new AttemptFailed(malformed(`${first.length} bytes and more of the type ${contentType}`, status));
    return relayEvents(this, events, first, chunks);
  }

  private async deliverWhole(
    first: Buffer,
    chunks: AsyncIterator<Buffer>,
    contentType: string,
    tried: Try,
  ): Promise<void> {
    const body = await readRest(first, chunks);
    const reply = this.readReply(body, contentType, tried);
    this.attempts.succeeded(tried, this.answer!.status);
    const { counts, estimated = {} } = reply;
    const outcome = this.outcome(this.usage({ counts: () => counts, estimated: () => estimated }));
    this.ending.sendWhole(this.exchange, outcome, reply.body, reply.contentType);
  }

  private readReply(body: Buffer, contentType: string, tried: Try): DirectReply {
    let reply: DirectReply;
    try {
      reply = tried.target.direct!.reply(this.call, body, contentType);
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      throw new AttemptFailed(malformed(error instanceof Error ? error.message : String(error), this.answer!.status));
    }
    if (reply.error !== null) throw new AttemptFailed(this.reported(reply.error, 200));
    return reply;
  }

  private usage({ counts, estimated }: Progress): Usage {
    const { source: _source, ...bound } = this.call.bound;
    const { price } = this.exchange.offer!.model;
    return usageOf({ ...this.call.known, ...counts() }, { ...bound, ...estimated() }, price);
  }

  private outcome(usage: Usage): Outcome {
    return this.exchange.aborted
      ? { kind: 'aborted', status: 499, code: null, usage }
      : { kind: 'ok', status: 200, code: null, usage };
  }

  private clientLeft(): void {
    this.wake?.();
    // `drain` and `finish` let the vendor end its work: what it made is charged.
    if (this.current !== null && this.current.target.channel.onAbort !== 'cancel') return;
    this.stop(new GatewayError('internal_error', 'The client left.'));
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    this.answer?.abort();
    this.wake?.();
  }
}

async function readRest(first: Buffer, chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const read = [first];
  let length = first.length;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    length += next.value.length;
    if (length > largestReply) throw new AttemptFailed(answerTooLarge(tooLarge));
    read.push(next.value);
  }
  return read.length === 1 ? first : Buffer.concat(read, length);
}
