/** What the gateway and its way to a vendor say to one another, whatever client carries it. */
import type { RawHeaders } from './headers.ts';

/**
 * Who hears about one upstream request. After `onEnd` or `onBroken` nothing more comes, and nothing comes before `send`
 * has returned.
 */
export interface Receiver {
  onHead(status: number, headers: RawHeaders): void;
  /** False pauses the vendor until `resume`. The bytes are the receiver's own. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onBroken(failure: TransportFailure): void;
}

/** `connect`: nothing was sent. */
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
  /** name, value, name, value */
  readonly headers: readonly string[];
  /** Pieces are written one after another and never joined. */
  readonly body: Buffer | readonly Buffer[] | StreamedBody | null;
  /** ms until the head must be there, and ms between two pieces of the body. */
  readonly firstByteTimeout: number;
  readonly idleTimeout: number;
}

/** One request on its way. */
export interface Sending {
  /** Gives the request up; the receiver hears nothing any more. */
  abort(): void;
  resume(): void;
}

/** How to reach one origin. */
export interface Endpoint {
  /** `http://` or `https://`, host and port. */
  readonly origin: string;
  /** ms, for TCP and TLS together. */
  readonly connectTimeout: number;
}

/** An origin whose address was checked before: the connection goes there, the name still goes into TLS. */
export interface PinnedEndpoint extends Endpoint {
  readonly address: string;
}

/** Where requests to one origin are sent. */
export interface ConnectionList {
  send(request: UpstreamRequest, receiver: Receiver): Sending;
}
