import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from './contract.ts';
import { byteLength } from './faults/bytes.ts';
import type { ReceivedRequest } from './received.ts';

/** A whole body of more parts than this was cut up by a fault, whose pieces must not be joined in one packet. */
const JOINED_PARTS = 32;

/**
 * Writes an answer. Events go out one write each, so that a client sees them arrive apart; a client that stops reading
 * stops the writing. `request` learns how many were written and whether the client left early.
 */
export function deliver(response: ServerResponse, answer: Answer, request: ReceivedRequest): void {
  new Delivery(response, answer, request).start();
}

class Delivery {
  readonly #response: ServerResponse;
  readonly #answer: Answer;
  readonly #request: ReceivedRequest;
  readonly #apart: boolean;
  #timer: NodeJS.Timeout | undefined;
  #severed = false;

  constructor(response: ServerResponse, answer: Answer, request: ReceivedRequest) {
    this.#response = response;
    this.#answer = answer;
    this.#request = request;
    this.#apart = answer.streamed || answer.frames.length > JOINED_PARTS;
  }

  start(): void {
    this.#request.status = this.#answer.status;
    this.#response.once('close', this.#onClose);
    if (this.#answer.latency > 0) this.#timer = setTimeout(this.#begin, this.#answer.latency);
    else this.#begin();
  }

  readonly #onClose = (): void => {
    clearTimeout(this.#timer);
    this.#request.aborted = !this.#severed && !this.#response.writableFinished;
  };

  readonly #begin = (): void => {
    if (this.#answer.ending === 'reset') {
      this.#severed = true;
      this.#response.socket?.resetAndDestroy();
      return;
    }
    this.#response.writeHead(this.#answer.status, headersOf(this.#answer));
    const { frames, ending } = this.#answer;
    if (frames.length === 1 && ending === 'end' && !this.#apart) {
      this.#request.events = 1;
      this.#response.end(frames[0]!.bytes);
      return;
    }
    if (this.#apart || ending === 'stall') this.#response.flushHeaders();
    if (frames.length === 0) this.#finish();
    else this.#next();
  };

  readonly #next = (): void => {
    if (this.#response.destroyed) return;
    const { frames } = this.#answer;
    const flushed = this.#write(frames[this.#request.events]!.bytes);
    this.#request.events += 1;
    if (this.#request.events === frames.length) this.#finish();
    else if (flushed) this.#schedule();
    else this.#response.once('drain', this.#schedule);
  };

  /** Text of a chunked body goes out as one string; `response.write` makes three buffers of it (a fifth more CPU per event). */
  #write(bytes: string | Buffer): boolean {
    const { socket, chunkedEncoding } = this.#response;
    if (typeof bytes !== 'string' || !chunkedEncoding || !socket) return this.#response.write(bytes);
    return socket.write(`${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`);
  }

  readonly #schedule = (): void => {
    if (this.#answer.interval > 0) this.#timer = setTimeout(this.#next, this.#answer.interval);
    else if (this.#apart) setImmediate(this.#next);
    else this.#next();
  };

  #finish(): void {
    const { ending } = this.#answer;
    const { socket } = this.#response;
    if (ending === 'stall') return;
    if (ending !== 'cut') this.#response.end();
    if (ending !== 'end' && socket) this.#severWhenFlushed(socket);
  }

  /** Bytes that are still in this process would be lost with the connection. */
  #severWhenFlushed(socket: Socket): void {
    setImmediate(() => {
      if (socket.destroyed) return;
      if (socket.writableLength > 0) {
        setTimeout(() => this.#severWhenFlushed(socket), 1);
        return;
      }
      this.#severed = true;
      socket.destroy();
    });
  }
}

function headersOf(answer: Answer): Record<string, string | number> {
  if (answer.declaredLength !== undefined) return { ...answer.headers, 'content-length': answer.declaredLength };
  return answer.streamed ? answer.headers : { ...answer.headers, 'content-length': byteLength(answer.frames) };
}
