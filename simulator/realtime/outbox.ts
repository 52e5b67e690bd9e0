import type { WebSocket } from 'ws';
import { nextId } from '../answers.ts';
import type { Fault } from '../faults/fault.ts';
import type { ReceivedRequest } from '../received.ts';
import { FAILURE_EVENT, type ServerEvent } from './problem.ts';

interface Stream {
  readonly events: Iterator<ServerEvent>;
  /** Milliseconds between two events. */
  readonly interval: number;
}

/**
 * Writes events to a socket one after another, each when the one before has left this process: a client that stops
 * reading stops the writing. Single events overtake streams. Here the faults of sockets strike.
 */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #fault: Fault;
  readonly #record: ReceivedRequest;
  readonly #single: ServerEvent[] = [];
  #streams: Stream[] = [];
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  /** True when a fault ended the connection. */
  severed = false;
  #silent = false;

  constructor(socket: WebSocket, fault: Fault, record: ReceivedRequest) {
    this.#socket = socket;
    this.#fault = fault;
    this.#record = record;
    socket.once('close', () => clearTimeout(this.#timer));
  }

  send(...events: readonly ServerEvent[]): void {
    this.#single.push(...events);
    this.#next();
  }

  /** After the streams before it. */
  stream(events: Iterator<ServerEvent>, interval: number): void {
    this.#streams.push({ events, interval });
    this.#next();
  }

  /** Drops what streams still have to say. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#streams = [];
  }

  readonly #next = (): void => {
    if (this.#busy || this.#silent || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#strike();
    if (this.#silent) return;
    const event = this.#single.shift() ?? this.#pull();
    if (!event) return;
    if (event.type === 'response.done' && this.#fault.nodone) return this.#next();
    this.#busy = true;
    this.#write(this.#spoil(event));
  };

  #pull(): ServerEvent | undefined {
    if (this.#timer) return undefined;
    for (let stream = this.#streams[0]; stream; stream = this.#streams[0]) {
      const { done, value } = stream.events.next();
      if (done !== true) {
        this.#pause(this.#fault.delay ?? stream.interval);
        return value;
      }
      this.#streams.shift();
    }
    return undefined;
  }

  #pause(interval: number): void {
    if (interval === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#next();
    }, interval);
  }

  readonly #written = (): void => {
    this.#busy = false;
    this.#record.events += 1;
    this.#next();
  };

  /** What happens after as many events as were sent. */
  #strike(): void {
    const { cut, stall, close, after = 0, errorframe } = this.#fault;
    const { events } = this.#record;
    if (errorframe === events && this.#single[0] !== FAILURE_EVENT) this.#single.unshift(FAILURE_EVENT);
    this.#silent = cut === events || stall === events || (close !== undefined && after === events);
    this.severed = this.#silent && stall !== events;
    if (cut === events) this.#socket.terminate();
    else if (close !== undefined && after === events) this.#socket.close(close, 'closed by a fault');
  }

  #spoil(event: ServerEvent): string {
    const { type, ...fields } = event;
    const text = JSON.stringify({ type, event_id: nextId('event_'), ...fields });
    const { events } = this.#record;
    if (this.#fault.malformed === events) return text.slice(0, Math.ceil(text.length * 0.7));
    if (this.#fault.hugeline === undefined || events > 0) return text;
    return text.replace('{', `{${' '.repeat(this.#fault.hugeline)}`);
  }

  #write(text: string): void {
    const { split, trickle } = this.#fault;
    const size = trickle ?? split;
    if (size === undefined) this.#socket.send(text, this.#written);
    else this.#writeFragments(Buffer.from(text), size, trickle === undefined ? 0 : (this.#fault.delay ?? 1));
  }

  /** One message in frames of `size` bytes (RFC 6455 5.4), also through the middle of characters. */
  #writeFragments(bytes: Buffer, size: number, interval: number): void {
    const fin = bytes.length <= size;
    this.#socket.send(bytes.subarray(0, size), { fin, binary: false }, () => {
      if (fin) return this.#written();
      const rest = (): void => this.#writeFragments(bytes.subarray(size), size, interval);
      if (interval > 0) setTimeout(rest, interval);
      else rest();
    });
  }
}
