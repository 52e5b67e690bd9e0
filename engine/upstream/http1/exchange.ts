/** One request and who hears of its answer; it moves to another connection only while nothing of it was sent. */
import type { Receiver, Sending, TransportFailure, UpstreamRequest } from '../transport.ts';

/** The connection that a request is on. */
export interface Carrier {
  abandon(): void;
  resume(): void;
}

export class Exchange implements Sending {
  /** What opens the request, in Latin-1. */
  readonly head: string;
  readonly request: UpstreamRequest;
  readonly receiver: Receiver;
  /** Null when it is over. */
  connection: Carrier | null = null;

  constructor(head: string, request: UpstreamRequest, receiver: Receiver) {
    this.head = head;
    this.request = request;
    this.receiver = receiver;
  }

  abort(): void {
    this.connection?.abandon();
  }

  resume(): void {
    this.connection?.resume();
  }
}

/** A receiver's own fault is told, and takes nothing else with it. */
export function tellBroken(receiver: Receiver, failure: TransportFailure): void {
  try {
    receiver.onBroken(failure);
  } catch (error) {
    receiverFailed(error);
  }
}

export function receiverFailed(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
