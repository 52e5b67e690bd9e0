/**
 * One connection to a vendor, one request at a time. Listeners are set once for each socket; the request on it is a
 * field. Whatever is odd ends the connection: it is used again only behind an answer whose end is beyond doubt.
 */
import type { Socket } from 'node:net';
import { type Deadline, startDeadline } from '../../wire/deadline.ts';
import { AnswerParser } from './answer-parser.ts';
import { type Carrier, type Exchange, receiverFailed, tellBroken } from './exchange.ts';
import type { Stacked } from './idle-stack.ts';
import type { Origin } from './origin.ts';
import { ReadBuffer } from './read-buffer.ts';
import { BodyWriter, writeWhole } from './request-body.ts';
import { atEndOfTurn, currentTurn, type Waiting } from './turn.ts';

/** Where connections come from and are kept. */
export interface Home {
  readonly origin: Origin;
  /** It is idle. */
  keep(connection: Connection): void;
  /** It is neither idle nor to be used any more. */
  drop(connection: Connection): void;
  /** Its socket is closed. */
  closed(connection: Connection): void;
  /** The connection was lost before anything was sent. */
  sendElsewhere(exchange: Exchange): void;
}

/** ms that an idle connection is kept where the vendor says nothing, how much earlier than it we end it, and at most. */
const defaultIdle = 20_000;
const idleMargin = 2_000;
const longestIdle = 600_000;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Of several addresses each failed in its own way. */
const readable = (cause: Error): Error =>
  cause instanceof AggregateError
    ? new Error(cause.errors.map((one) => asError(one).message).join('; '), { cause })
    : cause;

type State = 'connecting' | 'open' | 'destroyed';

export class Connection implements Carrier, Stacked, Waiting {
  older: Stacked | null = null;
  newer: Stacked | null = null;
  isIdle = false;
  private exchange: Exchange | null = null;
  private readonly home: Home;
  private readonly socket: Socket;
  private readonly parser = new AnswerParser();
  private readonly readBuffer = new ReadBuffer();
  /** Of the request, else of idleness. */
  private readonly deadline: Deadline;
  private readonly connectDeadline: Deadline;
  private state: State = 'connecting';
  private sent = false;
  /** The turn of the event loop in which it became idle. */
  private idleSince = 0;
  private paused = false;
  /** A TLS socket goes on for what it has decrypted already. */
  private readonly backlog: Buffer[] = [];
  private halfClosed = false;
  private upload: BodyWriter | null = null;

  constructor(home: Home, exchange: Exchange) {
    this.home = home;
    this.exchange = exchange;
    exchange.connection = this;
    this.deadline = startDeadline(exchange.request.firstByteTimeout, () => this.expire());
    const { connectTimeout } = home.origin;
    this.connectDeadline = startDeadline(connectTimeout, () =>
      this.lost(new Error(`no connection within ${connectTimeout} ms`)),
    );
    this.socket = home.origin.open({
      buffer: () => this.readBuffer.next(),
      callback: (length) => {
        this.read(length);
        return !this.paused;
      },
    });
    // Before the first pause, so that it never sets the stream going once more.
    this.socket.resume();
    this.socket.on(home.origin.isTls ? 'secureConnect' : 'connect', () => this.connected());
    this.socket.on('drain', () => this.upload?.drained());
    this.socket.on('end', () => this.vendorEnded());
    this.socket.on('error', (error) => this.lost(error));
    this.socket.on('close', () => this.closed());
  }

  /** Takes a request while idle. */
  take(exchange: Exchange): void {
    this.exchange = exchange;
    exchange.connection = this;
    this.sent = false;
    this.deadline.restart(exchange.request.firstByteTimeout);
    atEndOfTurn(this);
  }

  turnEnded(): void {
    if (this.exchange === null || this.sent || this.state !== 'open') return;
    if (this.idleSince === currentTurn()) atEndOfTurn(this);
    else this.write(this.exchange);
  }

  /** The caller gives its request up. */
  abandon(): void {
    this.detach();
    if (this.state === 'open' && !this.sent) this.keep();
    else this.destroy();
  }

  resume(): void {
    const { exchange } = this;
    // Who never paused has its deadline still running.
    if (exchange === null || !this.paused) return;
    this.paused = false;
    this.deadline.restart(exchange.request.idleTimeout);
    while (this.backlog.length > 0) {
      this.readFrom(this.backlog.shift()!);
      if (this.paused || this.exchange !== exchange) return;
    }
    if (this.parser.ended) this.completeSafely();
    else if (this.halfClosed) this.vendorEnded();
    else this.socket.resume();
  }

  /** Ends the connection; a request on it hears of it. Resolves when the socket is closed. */
  async shut(cause: Error): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.socket.once('close', () => resolve());
    });
    const exchange = this.detach();
    this.destroy();
    if (exchange !== null) tellBroken(exchange.receiver, { reason: this.sent ? 'reset' : 'connect', cause });
    await closed;
  }

  destroy(): void {
    if (this.state === 'destroyed') return;
    this.state = 'destroyed';
    this.deadline.cancel();
    this.connectDeadline.cancel();
    this.backlog.length = 0;
    this.upload?.stop();
    this.home.drop(this);
    this.socket.destroy();
  }

  private connected(): void {
    if (this.state !== 'connecting') return;
    this.state = 'open';
    this.connectDeadline.cancel();
    if (this.exchange !== null) this.write(this.exchange);
  }

  private write({ head, request }: Exchange): void {
    this.sent = true;
    this.parser.begin();
    const { body } = request;
    if (body === null) this.socket.write(head, 'latin1');
    else if ('read' in body) {
      this.socket.write(head, 'latin1');
      this.upload = new BodyWriter(this.socket);
      this.upload.write(body).catch((error: unknown) => this.lost(asError(error)));
    } else writeWhole(this.socket, head, body);
  }

  private read(length: number): void {
    // Nobody asked for these bytes.
    if (this.exchange === null || !this.sent) return this.lost(new Error('bytes that belong to no request'));
    const bytes = this.readBuffer.take(length);
    if (this.paused) this.backlog.push(bytes);
    else this.readFrom(bytes);
  }

  private readFrom(bytes: Buffer): void {
    try {
      this.parser.push(bytes);
      this.deliver(this.exchange!);
    } catch (error) {
      this.receiverThrew(error);
    }
  }

  /** Hands on what the parser has; after each call the request may be over. */
  private deliver(exchange: Exchange): void {
    const { parser } = this;
    const { receiver, request } = exchange;
    const { body, headCame } = parser;
    if (headCame) {
      receiver.onHead(parser.status, parser.headers);
      if (this.exchange !== exchange) return;
      parser.forgetHead();
    }
    if (body !== null) {
      parser.body = null;
      const goesOn = receiver.onData(body);
      if (this.exchange !== exchange) return;
      this.paused = !goesOn;
    }
    if (parser.fault !== null) return this.lost(new Error(parser.fault));
    // While the client is slow, silence is our own doing.
    if (this.paused) return this.deadline.cancel();
    if (parser.ended) this.complete(exchange);
    else if (headCame || body !== null) this.deadline.restart(request.idleTimeout);
  }

  private completeSafely(): void {
    try {
      this.complete(this.exchange!);
    } catch (error) {
      this.receiverThrew(error);
    }
  }

  /** The receiver comes last: it may send again at once. */
  private complete({ receiver }: Exchange): void {
    const { backlog, parser, socket, upload } = this;
    const wasSentWhole = upload?.done !== false && socket.writableLength === 0;
    // A backlog is bytes behind the end.
    const isClean = parser.reusable && backlog.length === 0 && !this.halfClosed;
    this.detach();
    if (isClean && wasSentWhole && this.state === 'open') this.keep();
    else this.destroy();
    receiver.onEnd();
  }

  private keep(): void {
    const { keepAlive } = this.parser;
    const idle = keepAlive < 0 ? defaultIdle : Math.min(keepAlive * 1000 - idleMargin, longestIdle);
    if (idle <= 0) return this.destroy();
    this.sent = false;
    this.idleSince = currentTurn();
    this.upload = null;
    this.readBuffer.rest();
    this.deadline.restart(idle);
    // Its last reader may have paused it: an idle connection listens.
    this.socket.resume();
    this.home.keep(this);
  }

  private expire(): void {
    const exchange = this.detach();
    this.destroy();
    if (exchange === null) return;
    const cause = new Error(this.parser.status === 0 ? 'no answer in time' : 'the answer stalled');
    tellBroken(exchange.receiver, { reason: this.sent ? 'timeout' : 'connect', cause });
  }

  private vendorEnded(): void {
    this.halfClosed = true;
    if (this.exchange === null || !this.sent) return this.lost(new Error('the vendor closed the connection'));
    if (this.paused) return;
    this.parser.finish();
    if (this.parser.ended) this.completeSafely();
    else this.lost(new Error(this.parser.fault ?? 'the vendor closed the connection'));
  }

  private closed(): void {
    this.home.closed(this);
    // What was read before a paused receiver wanted no more is still its own.
    if (this.paused && this.halfClosed && this.exchange !== null) return;
    this.lost(new Error('the connection was closed'));
  }

  private receiverThrew(error: unknown): void {
    if (this.exchange === null) return receiverFailed(error);
    this.lost(asError(error));
  }

  /** The connection is no good any more. */
  private lost(cause: Error): void {
    const { sent, state } = this;
    const exchange = this.detach();
    this.destroy();
    if (exchange === null) return;
    if (!sent && state === 'open') this.home.sendElsewhere(exchange);
    else tellBroken(exchange.receiver, { reason: sent ? 'reset' : 'connect', cause: readable(cause) });
  }

  private detach(): Exchange | null {
    const { exchange } = this;
    if (exchange !== null) exchange.connection = null;
    this.exchange = null;
    this.paused = false;
    return exchange;
  }
}
