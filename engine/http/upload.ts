/** Reads a multipart body whose files are too large for memory: fields are kept, files are spooled as they come. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { UploadedField, UploadedFile, UploadedForm } from '../contract/direct.ts';
import { GatewayError } from '../errors.ts';
import { tooLarge } from './body.ts';
import { damaged, isDamaged, isNamed, unnamed } from './multipart.ts';
import { type Receiving, startSilenceDeadline } from './receive-deadline.ts';
import type { NativeResponse } from './reply.ts';
import { Spool } from './upload-spool.ts';

type Parser = InstanceType<typeof Busboy>;

const largestField = 1024 * 1024;
/** All text fields together stay in memory. */
const largestFields = 4 * 1024 * 1024;
const mostFields = 100;
const mostFiles = 8;
/** Bytes on their way to the disk, beyond which the client has to wait. */
const mostPending = 1024 * 1024;

/** What is there of a form while it comes. */
export interface Upload {
  readonly form: UploadedForm;
  /** Set when the disk failed while the form was read. */
  readonly fault: unknown;
}

export interface UploadOptions {
  /** Folder for what is too large for memory. */
  readonly folder: string;
  /** Bytes of the whole body. */
  readonly limit: number;
  /** ms that a client may be silent within its body. */
  readonly timeout: number;
}

/**
 * Calls back once. Must be called while uWS still holds the request. After an error the rest of the body is thrown away.
 * `close` of the answer gives memory and disk back, at any time.
 */
export function readUpload(
  native: NativeResponse,
  request: Receiving,
  contentType: string,
  options: UploadOptions,
  done: (error: GatewayError | null, upload: Upload | null) => void,
): { close(): void } {
  const reading = new UploadReading(native, request, options, done);
  reading.start(contentType);
  return reading;
}

class UploadReading {
  private readonly native: NativeResponse;
  private readonly request: Receiving;
  private readonly options: UploadOptions;
  private readonly done: (error: GatewayError | null, upload: Upload | null) => void;
  private readonly parts: (UploadedField | { readonly spool: Spool; readonly file: Omit<UploadedFile, 'length'> })[] =
    [];
  private readonly spools: Spool[] = [];
  private parser: Parser | null = null;
  private readonly deadline: { heard(): void; cancel(): void };
  private length = 0;
  private fieldBytes = 0;
  private paused = false;
  private finished = false;

  constructor(
    native: NativeResponse,
    request: Receiving,
    options: UploadOptions,
    done: (error: GatewayError | null, upload: Upload | null) => void,
  ) {
    this.native = native;
    this.request = request;
    this.options = options;
    this.done = done;
    this.deadline = startSilenceDeadline(native, request, options.timeout, (error) => this.fail(error));
  }

  start(contentType: string): void {
    this.native.onData((chunk, isLast) => this.take(chunk, isLast));
    try {
      this.parser = this.createParser(contentType);
    } catch (cause) {
      const sentence = 'The Content-Type of the multipart body names no boundary.';
      // The caller has to have the answer of `readUpload` before it hears of an end.
      queueMicrotask(() => this.fail(new GatewayError('invalid_multipart', sentence, { cause })));
    }
  }

  close(): void {
    this.finished = true;
    this.deadline.cancel();
    for (const spool of this.spools) spool.close();
  }

  private take(chunk: ArrayBuffer, isLast: boolean): void {
    // Of a request that was refused meanwhile nothing is kept.
    if (this.finished || this.request.settled || this.request.aborted || this.parser === null) return;
    this.length += chunk.byteLength;
    if (this.length > this.options.limit) return this.fail(tooLarge(this.options.limit));
    this.deadline.heard();
    // uWS only lends the chunk; the parser keeps slices of what it is given.
    this.parser.write(Buffer.from(Buffer.from(chunk)));
    if (isLast) {
      this.deadline.cancel();
      this.parser.end();
    } else this.holdBack();
  }

  private createParser(contentType: string): Parser {
    const parser = new Busboy({
      headers: { 'content-type': contentType } as BusboyHeaders,
      limits: { fieldSize: largestField, fields: mostFields, files: mostFiles, headerPairs: 50 },
    });
    parser.on('field', (name: string | undefined, value, _nameCut, valueCut) => this.addField(name, value, valueCut));
    parser.on('file', (name: string | undefined, stream, fileName, _encoding, mediaType) =>
      this.addFile(name, stream, fileName, mediaType),
    );
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
      parser.on(event, () => this.fail(invalid(`The body has more than ${mostFiles} files or ${mostFields} fields.`)));
    parser.on('error', (cause: unknown) => this.fail(new GatewayError('invalid_multipart', undefined, { cause })));
    parser.on('finish', () => void this.complete());
    return parser;
  }

  private addField(name: string | undefined, value: string, cut: boolean): void {
    if (!isNamed(name)) return this.fail(unnamed());
    this.fieldBytes += value.length;
    if (isDamaged(value)) this.fail(damaged(name));
    else if (cut) this.fail(invalid(`The field \`${name.slice(0, 80)}\` is longer than 1 MB.`));
    else if (this.fieldBytes > largestFields) this.fail(invalid('The text fields are longer than 4 MB together.'));
    else this.parts.push({ kind: 'field', name, value });
  }

  private addFile(
    name: string | undefined,
    stream: NodeJS.ReadableStream,
    fileName: string | undefined,
    mediaType: string,
  ): void {
    const spool = new Spool(this.options.folder, () => this.goOn());
    this.spools.push(spool);
    stream.on('data', (chunk: Buffer) => {
      if (!this.finished) spool.write(chunk);
    });
    stream.on('error', () => this.fail(new GatewayError('invalid_multipart')));
    if (!isNamed(name)) return this.fail(unnamed());
    const file = {
      kind: 'file' as const,
      name,
      fileName: fileName ?? 'file',
      mediaType,
      get head() {
        return spool.head;
      },
      read: () => spool.read(),
    };
    this.parts.push({ spool, file });
  }

  /** A disk slower than the client's line: the client waits. */
  private holdBack(): void {
    if (this.paused || this.pending <= mostPending) return;
    this.paused = true;
    this.native.pause();
  }

  private goOn(): void {
    const failed = this.spools.find((spool) => spool.fault !== null);
    if (failed !== undefined) this.fail(notKept(failed.fault));
    if (!this.paused || this.pending > mostPending || this.request.aborted || this.request.settled) return;
    this.paused = false;
    this.native.resume();
  }

  private get pending(): number {
    return this.spools.reduce((sum, spool) => sum + spool.pending, 0);
  }

  /** All has come; what is still on its way to the disk is waited for. */
  private async complete(): Promise<void> {
    if (this.finished) return;
    const { parts, spools } = this;
    const fingerprint = parts.flatMap((part) => ('value' in part ? [part.name, part.value] : []));
    try {
      for (const spool of spools) fingerprint.push(await spool.finish());
    } catch (error) {
      return this.fail(notKept(error));
    }
    if (this.finished) return;
    this.finished = true;
    const form = { parts: parts.map((part) => ('value' in part ? part : fileOf(part))), fingerprint };
    const upload = {
      form,
      get fault() {
        return spools.find((spool) => spool.fault !== null)?.fault ?? null;
      },
    };
    this.done(null, upload);
  }

  private fail(error: GatewayError): void {
    if (this.finished) return;
    this.close();
    // What still comes is thrown away, also where the client was waiting for the disk.
    if (this.paused && !this.request.aborted && !this.request.settled) this.native.resume();
    this.done(error, null);
  }
}

function fileOf({ spool, file }: { readonly spool: Spool; readonly file: Omit<UploadedFile, 'length'> }): UploadedFile {
  return { ...file, head: spool.head, length: spool.length };
}

const invalid = (sentence: string): GatewayError => new GatewayError('invalid_multipart', sentence);

const notKept = (cause: unknown): GatewayError =>
  cause instanceof GatewayError
    ? cause
    : new GatewayError('internal_error', 'The gateway could not keep the upload while it came. Try again.', { cause });
