/** The bytes that open a request. What cannot stand in it is refused before anything is sent. */
import type { UpstreamRequest } from '../transport.ts';

/** What this client says itself, or does not do. */
const own = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const badName = /^$|[^-!#$%&'*+.^_`|~0-9A-Za-z]/;
const badValue = /[^\t\x20-\x7e\x80-\xff]/;
const badPath = /^(?!\/)|[^\x21-\x7e\x80-\xff]/;

function bodyLength(body: UpstreamRequest['body']): number {
  if (body === null) return 0;
  if (Buffer.isBuffer(body) || 'read' in body) return body.length;
  return body.reduce((sum, piece) => sum + piece.length, 0);
}

/** Field lines of name, value, name, value, with `Host` first. Throws Error. */
function fieldLines(headers: readonly string[], host: string): string {
  let lines = '';
  let named = host;
  if (headers.length % 2 !== 0) throw new Error('a header without a value');
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!;
    const value = headers[index + 1]!;
    if (badName.test(name)) throw new Error('a bad name of a header');
    if (badValue.test(value)) throw new Error(`a bad value of the header ${name}`);
    const lower = name.toLowerCase();
    if (own.has(lower)) throw new Error(`the header ${name} is not for callers to set`);
    if (lower === 'host') named = value;
    else lines += `${name}: ${value}\r\n`;
  }
  return `host: ${named}\r\nconnection: keep-alive\r\n${lines}`;
}

/** Writes the heads of requests to one host. */
export class RequestHeads {
  private readonly host: string;
  /** A channel's headers are the same array for each request: they are checked once. */
  private readonly known = new WeakMap<readonly string[], string>();
  /** The last one; most requests to a vendor go to the same few. */
  private goodPath = '/';

  constructor(host: string) {
    this.host = host;
  }

  /** In Latin-1. Throws Error. */
  write({ method, path, headers, body }: UpstreamRequest): string {
    if (path !== this.goodPath) {
      if (badPath.test(path)) throw new Error('a bad path');
      this.goodPath = path;
    }
    let lines = this.known.get(headers);
    if (lines === undefined) {
      lines = fieldLines(headers, this.host);
      this.known.set(headers, lines);
    }
    // RFC 9110 8.6: a POST says its length, also where there is no body.
    const length = body !== null || method === 'POST' ? `content-length: ${bodyLength(body)}\r\n` : '';
    return `${method} ${path} HTTP/1.1\r\n${lines}${length}\r\n`;
  }
}
