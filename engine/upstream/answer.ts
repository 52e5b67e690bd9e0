/** An upstream answer as a promise of its head and an async stream of its body, for everything but the chat hot path. */
import { noHeaders, type RawHeaders } from './headers.ts';
import type { ConnectionList, Receiver, Sending, TransportFailure, UpstreamRequest } from './transport.ts';

/** The transport failed; `failure` says how. */
export class TransportError extends Error {
  readonly failure: TransportFailure;

  constructor(failure: TransportFailure) {
    super(failure.cause.message, { cause: failure.cause });
    this.name = 'TransportError';
    this.failure = failure;
  }
}

/** The body was larger than the caller reads. */
export class TooLargeError extends Error {}

export class Answer implements Receiver, AsyncIterable<Buffer> {
  status = 0;
  headers: RawHeaders = noHeaders;
  /** Resolves with this when the head is there; rejects with a TransportError. */
  readonly head: Promise<this>;
  private sending: Sending | null = null;
  private queue: Buffer[] = [];
  private ended = false;
  private broken: TransportFailure | null = null;
  private wake: (() => void) | null = null;
  private headCame!: (answer: this) => void;
  private headFailed!: (error: TransportError) => void;

  constructor() {
    this.head = new Promise((resolve, reject) => {
      this.headCame = resolve;
      this.headFailed = reject;
    });
    // Whoever gave up before the head came does not hear of the failure.
    this.head.catch(() => {});
  }

  static send(connections: ConnectionList, request: UpstreamRequest): Answer {
    const answer = new Answer();
    answer.sending = connections.send(request, answer);
    return answer;
  }

  abort(): void {
    this.sending?.abort();
    if (this.ended || this.broken !== null) return;
    this.onBroken({ reason: 'reset', cause: new Error('given up by the gateway') });
  }

  onHead(status: number, headers: RawHeaders): void {
    this.status = status;
    this.headers = headers;
    this.headCame(this);
  }

  onData(chunk: Buffer): boolean {
    this.queue.push(chunk);
    this.wake?.();
    return this.queue.length < 16;
  }

  onEnd(): void {
    this.ended = true;
    this.wake?.();
  }

  onBroken(failure: TransportFailure): void {
    this.broken = failure;
    this.headFailed(new TransportError(failure));
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Buffer> {
    for (;;) {
      const chunks = this.queue;
      this.queue = [];
      if (chunks.length >= 16) this.sending?.resume();
      yield* chunks;
      if (this.queue.length > 0) continue;
      if (this.broken !== null) throw new TransportError(this.broken);
      if (this.ended) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = null;
    }
  }

  /** The whole body; throws TooLargeError beyond `maximum` bytes. */
  async read(maximum: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of this) {
      length += chunk.length;
      if (length > maximum) {
        this.abort();
        throw new TooLargeError(`the answer is larger than ${maximum} bytes`);
      }
      chunks.push(chunk);
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
  }
}
