/**
 * Connections to vendors: the only place that knows undici. Each origin has a free-list of one-connection Clients, so
 * that taking one is O(1) however many streams are open (undici's own Pool scans its clients at each dispatch), and
 * requests are never pipelined. The handler is undici 7's plain object with raw headers: `onRequestStart` and friends
 * are wrapped into it and cost about 6 µs a request more (docs/decisions/0003-undici-handlers.md).
 */
import { isIP, type LookupFunction } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { type Deadline, startDeadline } from '../wire/deadline.ts';

/** Response headers of a vendor as undici hands them over: name, value, name, value. */
export type RawHeaders = readonly Buffer[];

/** Who hears about one upstream request. After `onEnd` or `onBroken` nothing more comes. */
export interface Receiver {
  onHead(status: number, headers: RawHeaders): void;
  /** False pauses the vendor until `resume`. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onBroken(failure: TransportFailure): void;
}

export interface TransportFailure {
  readonly reason: 'connect' | 'reset' | 'timeout';
  readonly cause: Error;
}

/** A body that is read while it is sent, as fast as the vendor takes it. */
export interface StreamedBody {
  /** Bytes; exactly that many are read. */
  readonly length: number;
  /** Called once for each attempt. */
  read(): AsyncIterable<Buffer>;
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: readonly string[];
  /** Pieces are written one after another and never joined. */
  readonly body: Buffer | readonly Buffer[] | StreamedBody | null;
  /** ms until the head must be there, and ms between two pieces of the body. */
  readonly firstByteTimeout: number;
  readonly idleTimeout: number;
}

/** How to reach one origin. */
export interface Endpoint {
  readonly origin: string;
  readonly connectTimeout: number;
}

/** An origin whose address was checked before: the connection goes there, the name still goes into TLS. */
export interface PinnedEndpoint extends Endpoint {
  readonly address: string;
}

/** One request on its way. It is undici's handler itself: no closure and no second object per request. */
export class Sending implements Dispatcher.DispatchHandler {
  private readonly receiver: Receiver;
  private readonly release: () => void;
  private abortNative: ((reason?: Error) => void) | null = null;
  private resumeNative: (() => void) | null = null;
  private readonly idleTimeout: number;
  private readonly deadline: Deadline;
  private sent = false;
  private over = false;

  constructor(receiver: Receiver, request: UpstreamRequest, release: () => void) {
    this.receiver = receiver;
    this.release = release;
    this.idleTimeout = request.idleTimeout;
    // undici's own timers cost an object each that lives for half a second.
    this.deadline = startDeadline(request.firstByteTimeout, () => this.expire());
  }

  /** Gives the request up; the receiver hears nothing any more. */
  abort(): void {
    if (this.over) return;
    this.end();
    this.abortNative?.(new Error('given up by the gateway'));
  }

  resume(): void {
    if (!this.over) this.deadline.restart(this.idleTimeout);
    this.resumeNative?.();
  }

  private expire(): void {
    const cause = new Error(this.resumeNative === null ? 'no answer in time' : 'the answer stalled');
    const { sent } = this;
    this.end();
    this.abortNative?.(cause);
    this.receiver.onBroken({ reason: sent ? 'timeout' : 'connect', cause });
  }

  private end(): void {
    this.over = true;
    this.deadline.cancel();
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.sent = true;
    if (this.over) abort(new Error('given up by the gateway'));
    else this.abortNative = abort;
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    this.resumeNative = resume;
    // 100 Continue and 103 Early Hints are not the answer.
    if (status < 200 || this.over) return true;
    this.deadline.restart(this.idleTimeout);
    this.receiver.onHead(status, headers);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.over) return true;
    const goesOn = this.receiver.onData(chunk);
    if (this.over) return true;
    // While the client is slow, silence is our own doing.
    if (goesOn) this.deadline.restart(this.idleTimeout);
    else this.deadline.cancel();
    return goesOn;
  }

  onComplete(): void {
    this.release();
    if (this.over) return;
    this.end();
    this.receiver.onEnd();
  }

  onError(cause: Error): void {
    if (!this.over) {
      this.end();
      this.receiver.onBroken({ reason: this.sent ? 'reset' : 'connect', cause });
    }
    // Last: the receiver may send again at once, and undici dies of a new request on the client whose connection failed.
    this.release();
  }
}

function pinnedLookup(endpoint: Endpoint | PinnedEndpoint) {
  if (!('address' in endpoint)) return {};
  const { address } = endpoint;
  const family = isIP(address);
  const lookup: LookupFunction = (_host, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  return { lookup };
}

/** The idle connections of one origin. */
class FreeList {
  private readonly endpoint: Endpoint | PinnedEndpoint;
  private readonly idle: Client[] = [];
  private readonly all = new Set<Client>();

  constructor(endpoint: Endpoint | PinnedEndpoint) {
    this.endpoint = endpoint;
  }

  take(): Client {
    return this.idle.pop() ?? this.open();
  }

  give(client: Client): void {
    if (!client.closed && !client.destroyed) this.idle.push(client);
  }

  private open(): Client {
    const client = new Client(this.endpoint.origin, {
      pipelining: 1,
      connect: { timeout: this.endpoint.connectTimeout, noDelay: true, ...pinnedLookup(this.endpoint) },
      keepAliveTimeout: 20_000,
      maxResponseSize: -1,
    });
    this.all.add(client);
    return client;
  }

  async close(): Promise<void> {
    this.idle.length = 0;
    await Promise.allSettled([...this.all].map((client) => client.destroy()));
    this.all.clear();
  }
}

/** All connections of the process; they outlive a reload, keyed by what they lead to. */
export class Pools {
  private readonly lists = new Map<string, FreeList>();

  /** The list for an endpoint; resolved when a configuration is compiled, not per request. */
  list(endpoint: Endpoint): ConnectionList {
    const key = `${endpoint.origin} ${endpoint.connectTimeout}`;
    let list = this.lists.get(key);
    if (list === undefined) {
      list = new FreeList(endpoint);
      this.lists.set(key, list);
    }
    return new ConnectionList(list);
  }

  /** A list for one use: what a checked address leads to is not shared. It closes itself when its connection is idle. */
  pinned(endpoint: PinnedEndpoint): ConnectionList {
    return new ConnectionList(new FreeList(endpoint));
  }

  async close(): Promise<void> {
    await Promise.all([...this.lists.values()].map((list) => list.close()));
    this.lists.clear();
  }
}

/** undici knows the length of a Buffer; pieces would go out chunked, which not every vendor takes. */
function headersOf({ headers, body }: UpstreamRequest): readonly string[] {
  if (body === null || Buffer.isBuffer(body)) return headers;
  const length = 'read' in body ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);
  return [...headers, 'content-length', String(length)];
}

/** undici takes any iterable; its types do not say so. */
function bodyOf({ body }: UpstreamRequest): Buffer | null {
  return (body !== null && 'read' in body ? body.read() : body) as Buffer | null;
}

/** Where requests to one origin are sent. */
export class ConnectionList {
  private readonly list: FreeList;

  constructor(list: FreeList) {
    this.list = list;
  }

  send(request: UpstreamRequest, receiver: Receiver): Sending {
    const client = this.list.take();
    const sending = new Sending(receiver, request, () => this.list.give(client));
    client.dispatch(
      {
        method: request.method,
        path: request.path,
        headers: headersOf(request) as string[],
        body: bodyOf(request),
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      sending,
    );
    return sending;
  }
}
