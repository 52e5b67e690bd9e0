/** Reads multipart/form-data as it arrives (spec 2.2, 4.3): bounded fields, files and bytes. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { ImageBody } from '../contract/image.ts';
import { GatewayError } from '../errors.ts';
import { tooLarge } from './body.ts';
import { type Receiving, startSilenceDeadline } from './receive-deadline.ts';
import type { NativeResponse } from './reply.ts';

type Parser = InstanceType<typeof Busboy>;
type MultipartBody = Extract<ImageBody, { kind: 'multipart' }>;

const largestField = 1024 * 1024;
const longestName = 200;
const mostFields = 100;
const mostFiles = 64;

/**
 * Calls back once. Must be called while uWS still holds the request. After an error the rest of the body is thrown away.
 * `timeout`: ms that a client may be silent within its body; the deadline of the route bounds the whole.
 */
export function readMultipart(
  native: NativeResponse,
  request: Receiving,
  contentType: string,
  limit: number,
  timeout: number,
  done: (error: GatewayError | null, body: MultipartBody | null) => void,
): { cancel(): void } {
  const fields: [string, string][] = [];
  const files: MultipartBody['files'][number][] = [];
  let length = 0;
  let finished = false;
  const finish = (error: GatewayError | null) => {
    if (finished) return;
    finished = true;
    deadline.cancel();
    done(error, error === null ? { kind: 'multipart', fields, files } : null);
  };
  const deadline = startSilenceDeadline(native, request, timeout, finish);
  const parser = createParser(contentType, finish);
  if (parser === null) return { cancel: () => {} };
  parser.on('field', (name: string | undefined, value, _nameCut, valueCut) => {
    if (!isNamed(name)) return finish(unnamed());
    if (valueCut)
      return finish(new GatewayError('invalid_multipart', `The field \`${name.slice(0, 80)}\` is longer than 1 MB.`));
    if (isDamaged(value)) return finish(damaged(name));
    fields.push([name, value]);
  });
  parser.on('file', (field: string | undefined, stream, name, _encoding, mediaType) => {
    if (!isNamed(field)) finish(unnamed());
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () =>
      files.push({ field: field ?? '', name: name ?? 'file', mediaType, bytes: Buffer.concat(chunks) }),
    );
    stream.on('error', () => finish(new GatewayError('invalid_multipart')));
  });
  for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(event, () =>
      finish(
        new GatewayError('invalid_multipart', `The body has more than ${mostFiles} files or ${mostFields} fields.`),
      ),
    );
  }
  parser.on('error', (cause: unknown) => finish(new GatewayError('invalid_multipart', undefined, { cause })));
  parser.on('finish', () => finish(null));
  native.onData((chunk, isLast) => {
    if (finished) return;
    length += chunk.byteLength;
    if (length > limit) return finish(tooLarge(limit));
    deadline.heard();
    // uWS only lends the chunk; the parser keeps slices of what it is given.
    parser.write(Buffer.from(Buffer.from(chunk)));
    if (isLast) parser.end();
  });
  return { cancel: () => finish(new GatewayError('incomplete_body')) };
}

/** The parser's own limit of names is for urlencoded bodies only, and a part may come without one. */
export const isNamed = (name: string | undefined): name is string =>
  name !== undefined && name !== '' && name.length <= longestName;

export const unnamed = (): GatewayError =>
  new GatewayError('invalid_multipart', `A part has no name, or one longer than ${longestName} characters.`);

/** The parser writes U+FFFD where bytes are none of the charset. */
export const isDamaged = (value: string): boolean => value.includes('\ufffd');

export const damaged = (name: string): GatewayError =>
  new GatewayError('invalid_utf8', `The field \`${name.slice(0, 80)}\` is not valid UTF-8, or holds U+FFFD.`);

function createParser(contentType: string, finish: (error: GatewayError) => void): Parser | null {
  try {
    return new Busboy({
      headers: { 'content-type': contentType } as BusboyHeaders,
      limits: { fieldSize: largestField, fields: mostFields, files: mostFiles, headerPairs: 50 },
    });
  } catch (cause) {
    queueMicrotask(() =>
      finish(
        new GatewayError('invalid_multipart', 'The Content-Type of the multipart body names no boundary.', { cause }),
      ),
    );
    return null;
  }
}
