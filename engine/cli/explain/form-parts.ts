/** A multipart body that the gateway itself has written, as something to look at. */
import type { JsonObject } from '../../contract/values.ts';

const headEnd = '\r\n\r\n';

function partOf(bytes: Buffer): JsonObject {
  const end = bytes.indexOf(headEnd);
  const head = bytes.toString('utf8', 0, end);
  const content = bytes.subarray(end + headEnd.length);
  const field = /name="([^"]*)"/.exec(head)?.[1] ?? '';
  const file = /filename="([^"]*)"/.exec(head)?.[1];
  const type = /content-type: *(\S+)/i.exec(head)?.[1];
  if (file === undefined) return { field, value: content.toString('utf8') };
  return { field, file, type: type ?? null, bytes: content.length };
}

export function readForm(body: Buffer, contentType: string): JsonObject[] {
  const boundary = /boundary=(.+)$/.exec(contentType)?.[1] ?? '';
  const parts: JsonObject[] = [];
  const open = `--${boundary}\r\n`;
  for (let start = body.indexOf(open); start >= 0; ) {
    const next = body.indexOf(`\r\n--${boundary}`, start);
    parts.push(partOf(body.subarray(start + open.length, next)));
    start = body.indexOf(open, next);
  }
  return parts;
}
