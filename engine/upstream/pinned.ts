/**
 * Connections to addresses that strangers named: the only place that knows undici. They are far from the hot path, and
 * meet servers that nobody chose, so a client that many others use serves them.
 */
import { isIP, type LookupFunction } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { type Deadline, startDeadline } from '../wire/deadline.ts';
import { rawHeaders } from './headers.ts';
import type { ConnectionList, PinnedEndpoint, Receiver, Sending, UpstreamRequest } from './transport.ts';

/** It is undici 7's plain handler itself. */
class PinnedSending implements Dispatcher.DispatchHandler, Sending {
  private readonly receiver: Receiver;
  private abortNative: ((reason?: Error) => void) | null = null;
  private resumeNative: (() => void) | null = null;
  private readonly idleTimeout: number;
  private readonly deadline: Deadline;
  private sent = false;
  private over = false;

  constructor(receiver: Receiver, request: UpstreamRequest) {
    this.receiver = receiver;
    this.idleTimeout = request.idleTimeout;
    this.deadline = startDeadline(request.firstByteTimeout, () => this.expire());
  }

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
    this.receiver.onHead(status, rawHeaders(headers));
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.over) return true;
    const goesOn = this.receiver.onData(chunk);
    if (this.over) return true;
    // While the reader is slow, silence is our own doing.
    if (goesOn) this.deadline.restart(this.idleTimeout);
    else this.deadline.cancel();
    return goesOn;
  }

  onComplete(): void {
    if (this.over) return;
    this.end();
    this.receiver.onEnd();
  }

  onError(cause: Error): void {
    if (this.over) return;
    this.end();
    this.receiver.onBroken({ reason: this.sent ? 'reset' : 'connect', cause });
  }
}

function lookupOf(address: string): LookupFunction {
  const family = isIP(address);
  return (_host, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

/** A connection for each request; it closes itself when it is idle. Bodies are Buffers or none. */
export function pinnedConnections({ origin, connectTimeout, address }: PinnedEndpoint): ConnectionList {
  return {
    send(request, receiver) {
      const { method, path, headers, body } = request;
      if (body !== null && !Buffer.isBuffer(body)) throw new TypeError('a pinned connection sends no body in pieces');
      const client = new Client(origin, {
        pipelining: 1,
        connect: { timeout: connectTimeout, noDelay: true, lookup: lookupOf(address) },
        maxResponseSize: -1,
      });
      const sending = new PinnedSending(receiver, request);
      client.dispatch(
        { method, path, headers: headers as string[], body, headersTimeout: 0, bodyTimeout: 0, reset: true },
        sending,
      );
      return sending;
    },
  };
}
