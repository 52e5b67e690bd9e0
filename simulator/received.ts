import type { IncomingHttpHeaders } from 'node:http';
import type { RequestBody } from './contract.ts';
import type { Form } from './multipart.ts';

/** A request as it arrived, and how its answer went. */
export interface ReceivedRequest {
  readonly vendor: string;
  readonly method: string;
  /** With the vendor's prefix and the query: `/gemini/v1beta/models?pageSize=5`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent: `headers` tells only the first of several that may stand once. */
  readonly rawHeaders: readonly string[];
  /** Parsed JSON, or the parts of a form; undefined where there was none or it could not be parsed. */
  readonly body: unknown;
  readonly raw: Buffer;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** True when the client left before the answer was complete. */
  aborted: boolean;
  /** Of the answer; 0 before it is decided. */
  status: number;
  /** Events (or parts of a whole body) written so far. */
  events: number;
  /** Where the request asked for a WebSocket. */
  readonly socket?: ReceivedSocket;
}

/** What came over a socket after the upgrade. */
export interface ReceivedSocket {
  /** Client events in their order: parsed JSON, or the text of what cannot be parsed. */
  readonly frames: unknown[];
  pings: number;
  pongs: number;
  /** How it ended (RFC 6455 7.1.5: 1005 without a code, 1006 without a close frame); absent while it is open. */
  closed?: { readonly code: number; readonly reason: string };
}

const REQUEST_LIMIT = 1000;
const BYTE_LIMIT = 128_000_000;

/** A list that forgets its oldest requests. */
export interface ReceivedLog {
  readonly requests: ReceivedRequest[];
  record(request: ReceivedRequest): void;
  /** Adds a frame of a socket, unless its request is forgotten already. */
  recordFrame(request: ReceivedRequest, frame: unknown, bytes: number): void;
  clear(): void;
}

export function createReceivedLog(): ReceivedLog {
  const requests: ReceivedRequest[] = [];
  const sizes = new Map<ReceivedRequest, number>();
  let bytes = 0;

  const grow = (request: ReceivedRequest, more: number): void => {
    sizes.set(request, (sizes.get(request) ?? 0) + more);
    bytes += more;
    while (requests.length > REQUEST_LIMIT || (bytes > BYTE_LIMIT && requests.length > 1)) forgetOldest();
  };
  const forgetOldest = (): void => {
    const oldest = requests.shift()!;
    bytes -= sizes.get(oldest)!;
    sizes.delete(oldest);
  };

  return {
    requests,
    record(request) {
      requests.push(request);
      grow(request, request.raw.length);
    },
    recordFrame(request, frame, length) {
      if (!sizes.has(request) || !request.socket) return;
      request.socket.frames.push(frame);
      grow(request, length);
    },
    clear() {
      requests.length = 0;
      sizes.clear();
      bytes = 0;
    },
  };
}

export function recordedBody(body: RequestBody): unknown {
  if (body.kind === 'json') return body.value;
  return body.kind === 'form' ? recordedForm(body.form) : undefined;
}

/** Fields sent once are strings, repeated ones arrays. */
function recordedForm({ fields, files }: Form): { fields: Record<string, string | string[]>; files: Form['files'] } {
  const entries = Object.entries(fields).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]);
  return { fields: Object.fromEntries(entries) as Record<string, string | string[]>, files };
}
