/** A vendor of a test's own, for what the simulator never does: it speaks Veo or xAI and answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OwnVendor {
  readonly origin: string;
  /** `METHOD /path` with the credential that came along. */
  readonly received: { readonly line: string; readonly key: string | null }[];
  close(): Promise<void>;
}

export async function startVendor(
  answer: (request: IncomingMessage, response: ServerResponse, origin: string) => void,
): Promise<OwnVendor> {
  const received: OwnVendor['received'] = [];
  const server = createServer((request, response) => {
    const key = request.headers['x-goog-api-key'] ?? request.headers.authorization ?? null;
    received.push({ line: `${request.method} ${request.url}`, key: typeof key === 'string' ? key : null });
    request.resume();
    request.on('end', () => answer(request, response, origin()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: origin(),
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const box = (type: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
};

/** The least that passes for an MP4 of about this size. */
export const smallMp4 = (bytes = 1000): Buffer =>
  Buffer.concat([box('ftyp', Buffer.from('isom\0\0\x02\0isom')), box('mdat', Buffer.alloc(bytes, 7))]);

export function json(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
