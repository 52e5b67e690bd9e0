/** A form written anew for a vendor: its parts in their order, its files read while they are sent. */
import { randomBytes } from 'node:crypto';
import type { UploadedField, UploadedFile, UploadedForm } from '../contract/direct.ts';
import type { JsonValue } from '../contract/values.ts';
import type { ParameterOverrides } from '../contract/wire.ts';
import type { StreamedBody } from '../upstream/pools.ts';

type Part = UploadedField | UploadedFile;

export interface EncodedForm {
  readonly contentType: string;
  readonly body: StreamedBody;
}

const longestFileName = 200;

/** As browsers escape names in forms (WHATWG HTML, multipart/form-data): nothing can end the header. */
const escaped = (name: string): string =>
  name
    .replace(/[\r\n"]/g, (character) => encodeURIComponent(character))
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '_');

/** Vendors tell a sound's format by the ending of its name: a long name is cut at its beginning. */
const fileName = (name: string): string => escaped(name.slice(-longestFileName)) || 'file';

const mediaType = (type: string): string =>
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : 'application/octet-stream';

function headOf(part: Part): string {
  const name = `Content-Disposition: form-data; name="${escaped(part.name)}"`;
  if (part.kind === 'field') return `${name}\r\n\r\n`;
  return `${name}; filename="${fileName(part.fileName)}"\r\nContent-Type: ${mediaType(part.mediaType)}\r\n\r\n`;
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** `name[]` is another way to write a list. */
const plainName = (name: string): string => name.replace(/\[\]$/, '');

function overlaid(parts: readonly Part[], { set, remove }: ParameterOverrides): Part[] {
  const gone = new Set([...remove, ...Object.keys(set)]);
  const kept = parts.filter((part) => part.kind === 'file' || !gone.has(plainName(part.name)));
  const added = Object.entries(set).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((item) => ({ kind: 'field' as const, name: `${name}[]`, value: textOf(item) }))
      : [{ kind: 'field' as const, name, value: textOf(value) }],
  );
  return [...kept, ...added];
}

/** The parts of the client's form under another model's name, with a channel's own parameters laid over it. */
export function partsFor(
  { parts }: UploadedForm,
  vendorModel: string,
  overrides: ParameterOverrides | null,
): readonly Part[] {
  const named = parts.map((part) =>
    part.kind === 'field' && part.name === 'model' ? { ...part, value: vendorModel } : part,
  );
  return overrides === null ? named : overlaid(named, overrides);
}

/** The body of these parts. */
export function encodeUpload(
  form: UploadedForm,
  vendorModel: string,
  overrides: ParameterOverrides | null,
): EncodedForm {
  const parts = partsFor(form, vendorModel, overrides);
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const pieces: (Buffer | UploadedFile)[] = [];
  for (const [index, part] of parts.entries()) {
    pieces.push(Buffer.from(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n${headOf(part)}`));
    pieces.push(part.kind === 'field' ? Buffer.from(part.value) : part);
  }
  pieces.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: bodyOf(pieces) };
}

function bodyOf(pieces: readonly (Buffer | UploadedFile)[]): StreamedBody {
  return {
    length: pieces.reduce((sum, piece) => sum + piece.length, 0),
    async *read() {
      let waiting: Buffer[] = [];
      for (const piece of pieces) {
        if (Buffer.isBuffer(piece)) {
          waiting.push(piece);
          continue;
        }
        yield Buffer.concat(waiting);
        waiting = [];
        yield* piece.read();
      }
      yield Buffer.concat(waiting);
    },
  };
}
