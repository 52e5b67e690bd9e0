/** A file of a multipart body. */
interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A parsed multipart body; a field sent twice keeps every value, in order. */
export interface Form {
  readonly fields: Record<string, string[]>;
  readonly files: FormFile[];
}

/** Thrown for a body that is not what RFC 7578 describes. */
export class MultipartError extends Error {}

const BLANK_LINE = Buffer.from('\r\n\r\n');

/** Parses a complete multipart/form-data body as RFC 7578 and RFC 2046 5.1 write it, without leniency. */
export function parseMultipart(contentType: string, body: Buffer): Form {
  const form: Form = { fields: Object.create(null) as Record<string, string[]>, files: [] };
  for (const part of splitParts(body, boundaryOf(contentType))) addPart(form, part);
  return form;
}

function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (!boundary) throw new MultipartError('the content type has no boundary');
  return boundary;
}

function splitParts(body: Buffer, boundary: string): Buffer[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const opening = delimiter.subarray(2);
  if (!body.subarray(0, opening.length).equals(opening))
    throw new MultipartError('the body does not start with its boundary');
  const parts: Buffer[] = [];
  let start = opening.length;
  while (body.toString('latin1', start, start + 2) !== '--') {
    if (body.toString('latin1', start, start + 2) !== '\r\n')
      throw new MultipartError('a boundary is not followed by a line end');
    const end = body.indexOf(delimiter, start);
    if (end < 0) throw new MultipartError('the closing boundary is missing');
    parts.push(body.subarray(start + 2, end));
    start = end + delimiter.length;
  }
  return parts;
}

function addPart(form: Form, part: Buffer): void {
  const end = part.indexOf(BLANK_LINE);
  if (end < 0) throw new MultipartError('a part has no blank line after its header');
  const header = part.toString('utf8', 0, end);
  const bytes = part.subarray(end + BLANK_LINE.length);
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(header)?.[1] ?? '';
  const field = /(?:^|[\s;])name="([^"]*)"/i.exec(disposition)?.[1];
  if (!field) throw new MultipartError('a part has no name');
  const filename = /filename="([^"]*)"/i.exec(disposition)?.[1];
  if (filename === undefined) {
    form.fields[field] ??= [];
    form.fields[field].push(bytes.toString('utf8'));
    return;
  }
  const contentType = /^content-type:\s*(\S+)/im.exec(header)?.[1] ?? 'application/octet-stream';
  form.files.push({ field, filename, contentType, bytes });
}
