import { connect, type Socket } from 'node:net';

/** What a bare socket saw of one answer. */
export interface Exchange {
  readonly status: number | undefined;
  readonly head: string;
  /** The body as it was on the wire, chunk sizes included. */
  readonly body: Buffer;
  /** Each write as it arrived. */
  readonly arrivals: { readonly bytes: Buffer; readonly at: number }[];
  /** `end`: FIN; a code such as `ECONNRESET`; `open`: still open when the time was over. */
  readonly ending: string;
}

export interface Asking {
  readonly url: string;
  readonly path: string;
  readonly body?: unknown;
  /** How long to listen, in milliseconds. */
  readonly patience?: number;
  readonly headers?: string;
}

/** Sends one request over a socket of its own and reads until the server ends it or patience does. */
export function exchange({ url, path, body, patience = 400, headers = '' }: Asking): Promise<Exchange> {
  const { hostname, port, host } = new URL(url);
  const text = JSON.stringify(body);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer k\r\nx-goog-api-key: k\r\nContent-Type: application/json\r\n` +
      `${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return listen(socket, patience);
}

function listen(socket: Socket, patience: number): Promise<Exchange> {
  const arrivals: { bytes: Buffer; at: number }[] = [];
  return new Promise((resolve) => {
    let settled = false;
    const settle = (ending: string): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      socket.destroy();
      const all = Buffer.concat(arrivals.map(({ bytes }) => bytes));
      const split = all.indexOf('\r\n\r\n');
      const head = split < 0 ? '' : all.toString('latin1', 0, split);
      const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1];
      resolve({ status: status ? Number(status) : undefined, head, body: all.subarray(split + 4), arrivals, ending });
    };
    const timer = setTimeout(() => settle('open'), patience);
    socket.on('data', (bytes) => arrivals.push({ bytes, at: performance.now() }));
    socket.on('end', () => settle('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    socket.on('close', () => settle('closed'));
  });
}

/** Takes chunked framing off; `complete` says whether the closing chunk was there. */
export function unchunk(body: Buffer): { text: string; complete: boolean; chunks: Buffer[] } {
  const chunks: Buffer[] = [];
  let offset = 0;
  for (;;) {
    const end = body.indexOf('\r\n', offset);
    if (end < 0) break;
    const size = Number.parseInt(body.toString('latin1', offset, end), 16);
    if (size === 0) return { text: Buffer.concat(chunks).toString('utf8'), complete: true, chunks };
    if (body.length < end + 2 + size + 2) break;
    chunks.push(body.subarray(end + 2, end + 2 + size));
    offset = end + 2 + size + 2;
  }
  return { text: Buffer.concat(chunks).toString('utf8'), complete: false, chunks };
}
