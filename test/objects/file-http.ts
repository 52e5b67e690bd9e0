/** A tiny HTTP server around the file server, the way the gateway's own serves it. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { toGatewayError } from '../../engine/errors.ts';
import type { FileServer } from '../../engine/objects/serve.ts';

export interface FileHttp {
  readonly url: string;
  close(): Promise<void>;
}

export async function listenForFiles(files: () => FileServer): Promise<FileHttp> {
  const server = createServer((incoming, reply) => {
    answer(files(), incoming, reply).catch((error: unknown) => {
      if (reply.headersSent) return reply.destroy();
      const { code, status, message } = toGatewayError(error);
      reply.writeHead(status, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ error: { code, message } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

async function answer(files: FileServer, incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
  const [path = '', query = ''] = splitOnce(incoming.url ?? '', '?');
  const { range = null, 'if-none-match': ifNoneMatch = null } = incoming.headers;
  const method = incoming.method ?? '';
  const { status, headers, body } = await files.resolveFile({ method, path, query, range, ifNoneMatch });
  reply.writeHead(status, headers);
  if (body === null) reply.end();
  else await pipeline(body.open(), reply);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** GET with exactly this request target: `fetch` would tidy up `..` before it is sent. */
export async function getRaw(origin: string, target: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path: target, agent: false }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    outgoing.on('error', reject).end();
  });
}
