/** Answers for the signed URLs of the folder engine, without a word about the HTTP server that sends them. */
import { constants, createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { idOf } from './key.ts';
import { mediaTypeOf } from './media-types.ts';
import { type ByteRange, parseRange } from './range.ts';
import { verifyQuery } from './url.ts';

export interface FileServerOptions {
  /** The folder of the objects. */
  readonly folder: string;
  readonly secrets: readonly string[];
}

export interface FileRequest {
  readonly method: string;
  /** As it stood in the request line, nothing decoded: `/files/images/2025/…`. */
  readonly path: string;
  /** As it stood in the request line, without the question mark. */
  readonly query: string;
  readonly range: string | null;
  readonly ifNoneMatch: string | null;
}

export interface FileReply {
  readonly status: 200 | 206 | 304 | 416;
  /** Lower-case names; `content-length` included where the reply has one. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null for HEAD, 304, 416 and an object without bytes. Whoever opens the stream reads it to its end or destroys it. */
  readonly body: { readonly length: number; open(): Readable } | null;
}

export interface FileServer {
  /** Throws GatewayError: `invalid_url_signature`, `url_expired`, `object_not_found`, `method_not_supported`. */
  resolveFile(request: FileRequest): Promise<FileReply>;
}

const mount = '/files/';

export function createFileServer(options: FileServerOptions): FileServer {
  return { resolveFile: (request) => resolveFile(options, request) };
}

async function resolveFile(options: FileServerOptions, request: FileRequest): Promise<FileReply> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new GatewayError('method_not_supported');
  const key = request.path.startsWith(mount) ? request.path.slice(mount.length) : '';
  const id = idOf(key);
  if (id === null) throw new GatewayError('object_not_found');
  const lifetime = remainingSeconds(options.secrets, key, request.query);
  const path = join(options.folder, key);
  const size = await sizeOf(options.folder, key);
  const headers = commonHeaders(key, id, lifetime);
  if (isNamed(request.ifNoneMatch, headers.etag)) return { status: 304, headers, body: null };
  if (request.method === 'HEAD') return { status: 200, headers: withLength(headers, size), body: null };
  const range = parseRange(request.range, size);
  if (range === 'unsatisfiable') return unsatisfiable(size);
  return range === null ? whole(path, size, headers) : part(path, size, range, headers);
}

/** The signature is checked before the disk is touched: without one nobody learns which objects exist. */
function remainingSeconds(secrets: readonly string[], key: string, query: string): number {
  const now = Date.now();
  const { verdict, expires } = verifyQuery(secrets, key, query, now);
  if (verdict === 'invalid') throw new GatewayError('invalid_url_signature');
  if (verdict === 'expired') throw new GatewayError('url_expired');
  return expires - Math.ceil(now / 1000);
}

/** Bytes of a regular file whose real place is where its key says: a symbolic link on the way counts as missing. */
async function sizeOf(folder: string, key: string): Promise<number> {
  try {
    const real = await realpath(join(folder, key));
    if (real !== join(await realpath(folder), key)) throw new GatewayError('object_not_found');
    const found = await stat(real);
    if (!found.isFile()) throw new GatewayError('object_not_found');
    return found.size;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') throw new GatewayError('object_not_found');
    throw error;
  }
}

function commonHeaders(key: string, id: string, lifetime: number) {
  const { mediaType, disposition } = mediaTypeOf(key);
  return {
    'content-type': mediaType,
    'content-disposition': disposition,
    'x-content-type-options': 'nosniff',
    'cache-control': `private, max-age=${lifetime}, immutable`,
    'accept-ranges': 'bytes',
    etag: `"${id}"`,
  };
}

type Headers = Readonly<Record<string, string>>;

const withLength = (headers: Headers, length: number): Headers => ({ ...headers, 'content-length': String(length) });

function whole(path: string, size: number, headers: Headers): FileReply {
  const body = size === 0 ? null : bytesOf(path, { first: 0, last: size - 1 });
  return { status: 200, headers: withLength(headers, size), body };
}

function part(path: string, size: number, range: ByteRange, headers: Headers): FileReply {
  const body = bytesOf(path, range);
  const contentRange = { 'content-range': `bytes ${range.first}-${range.last}/${size}` };
  return { status: 206, headers: { ...withLength(headers, body.length), ...contentRange }, body };
}

function unsatisfiable(size: number): FileReply {
  return { status: 416, headers: { 'content-range': `bytes */${size}`, 'content-length': '0' }, body: null };
}

function bytesOf(path: string, { first, last }: ByteRange): { length: number; open(): Readable } {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  // The declared type of `flags` knows only letters; numbers are passed on to open(2) like everywhere in node:fs.
  return {
    length: last - first + 1,
    open: () => createReadStream(path, { flags: flags as never, start: first, end: last }),
  };
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
function isNamed(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim().replace(/^W\//, '') === etag);
}
