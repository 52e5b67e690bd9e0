import type { IncomingHttpHeaders } from 'node:http';
import type { Fault, RefusalKind } from './faults/fault.ts';
import type { Pictures } from './images/pictures.ts';
import type { Form } from './multipart.ts';

export type RequestBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; form: Form }
  | { kind: 'broken'; reason: string };

/** One request as a vendor sees it: fault suffix stripped from the model, path relative to the vendor's prefix. */
export interface Call {
  readonly method: string;
  /** Below the vendor's prefix: `/v1/chat/completions`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: RequestBody;
  /** From the body's `model` or the path's `/models/{model}`. */
  readonly model: string | undefined;
  readonly fault: Fault;
  /** `http://127.0.0.1:PORT` of the simulator itself. */
  readonly origin: string;
  readonly pictures: Pictures;
  /** Stands for the running simulator: what vendors remember between requests is kept by it (`memory.ts`). */
  readonly run: object;
}

/** A piece of the body that is written on its own: one event of a stream, or a part of a whole body. */
export interface Frame {
  readonly kind: 'data' | 'done';
  readonly bytes: string | Buffer;
}

/**
 * How the connection goes on after the last frame: `end` well, `cut` without ending the body, `stall` until the client
 * leaves, `hang-up` ends the connection in order; `reset` sends RST instead of an answer.
 */
type Ending = 'end' | 'cut' | 'stall' | 'hang-up' | 'reset';

/** An answer before it is written. Vendors make it, faults change it, `deliver` writes it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Streamed answers are chunked, whole ones carry a content length. */
  readonly streamed: boolean;
  readonly frames: readonly Frame[];
  /** Milliseconds between two frames. */
  readonly interval: number;
  /** Milliseconds before the head. */
  readonly latency: number;
  readonly ending: Ending;
  /** Overrides the content length on the wire. */
  readonly declaredLength?: number;
}

/** A vendor: one file, one entry in `vendors/index.ts`, served below `/{name}`. */
export interface Vendor {
  readonly name: string;
  /** Base path a client of this vendor uses: `/openai/v1`. */
  readonly basePath: string;
  /** Answers, or throws `Refused` with the vendor's own error. */
  handle(call: Call): Answer;
  /** The body this vendor sends with an error status. */
  failure(status: number, retryAfter: number | undefined, call: Call): Answer;
  /** The vendor's own form of a moderation refusal or an empty result, in place of `answer`. */
  refusal(kind: RefusalKind, call: Call, answer: Answer): Answer;
  /** The error event this vendor puts into a stream that began with 200. */
  errorFrame(call: Call, answer: Answer): string;
}

/** Thrown by checks deep inside a vendor; carries the finished error answer. */
export class Refused extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`refused with status ${answer.status}`);
    this.answer = answer;
  }
}
