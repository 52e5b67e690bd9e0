/** What is to be explained: the body and the files that a client would send. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import type { UploadedForm } from '../../contract/direct.ts';
import type { ImageBody } from '../../contract/image.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import { parseObject } from '../../http/json-body.ts';
import { samplePng } from './sample-body.ts';

/** `-` is standard input. Throws GatewayError for what is no JSON object, as a client would get it. */
export async function readBodyFile(file: string): Promise<JsonObject> {
  return parseObject(file === '-' ? Buffer.from(await text(process.stdin)) : await readFile(file));
}

const fieldText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The form of a transcription: members of `body` as fields, and a second of sound of which only the size matters. */
export function uploadForm(body: JsonObject): UploadedForm {
  const fields = Object.entries(body).map(([name, value]) => ({
    kind: 'field' as const,
    name,
    value: fieldText(value),
  }));
  const bytes = Buffer.alloc(16_000);
  const file = {
    kind: 'file' as const,
    name: 'file',
    fileName: 'sample.mp3',
    mediaType: 'audio/mpeg',
    length: bytes.length,
    head: bytes,
    async *read() {
      yield bytes;
    },
  };
  return { parts: [...fields, file], fingerprint: [] };
}

/** The form of an image edit: members of `body` as fields, the files as reference images. */
export async function editForm(body: JsonObject, files: readonly string[]): Promise<ImageBody> {
  const images = await Promise.all(files.map(async (file) => ({ name: basename(file), bytes: await readFile(file) })));
  const references = images.length > 0 ? images : [{ name: 'sample.png', bytes: samplePng }];
  return {
    kind: 'multipart',
    fields: Object.entries(body).map(([name, value]) => [name, fieldText(value)] as const),
    files: references.map((image) => ({ ...image, field: 'image', mediaType: 'image/png' })),
  };
}
