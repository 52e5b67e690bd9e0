import type { IncomingMessage } from 'node:http';
import type { RequestBody } from './contract.ts';
import { type Fault, readSuffix } from './faults/fault.ts';
import { MultipartError, parseMultipart } from './multipart.ts';

const BODY_LIMIT = 256_000_000;

/** Thrown when a body is larger than any vendor takes. */
export class BodyTooLarge extends Error {}

/** Reads a whole body; rejects when the client leaves. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > BODY_LIMIT) {
        request.pause();
        reject(new BodyTooLarge(`a body is limited to ${BODY_LIMIT} bytes`));
      } else chunks.push(chunk);
    });
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

/** Multipart by its content type, anything else is taken for JSON. */
export function parseBody(contentType: string | undefined, raw: Buffer): RequestBody {
  if (raw.length === 0) return { kind: 'none' };
  if (contentType?.startsWith('multipart/form-data')) return parseForm(contentType, raw);
  try {
    return { kind: 'json', value: JSON.parse(raw.toString('utf8')) };
  } catch (error) {
    return { kind: 'broken', reason: (error as Error).message };
  }
}

function parseForm(contentType: string, raw: Buffer): RequestBody {
  try {
    return { kind: 'form', form: parseMultipart(contentType, raw) };
  } catch (error) {
    if (error instanceof MultipartError) return { kind: 'broken', reason: error.message };
    throw error;
  }
}

export interface Named {
  readonly model: string | undefined;
  /** The path, with a fault suffix taken out of the model in it. */
  readonly path: string;
  readonly fault: Fault;
}

const MODEL_IN_PATH = /\/models\/([^/]+?)(?=:[A-Za-z]+$|$)/;

/**
 * Finds the model in the path or the body and takes the fault suffix off: `gpt-5.5!cut=3,delay=50`.
 * @throws FaultError for a suffix that cannot be understood
 */
export function nameModel(path: string, body: RequestBody): Named {
  const inPath = MODEL_IN_PATH.exec(path)?.[1];
  const name = inPath ?? modelInBody(body);
  if (name === undefined || !name.includes('!')) return { model: name, path, fault: {} };
  const model = name.slice(0, name.indexOf('!'));
  const fault = readSuffix(name.slice(model.length + 1));
  return { model, path: inPath === undefined ? path : path.replace(inPath, () => model), fault };
}

function modelInBody(body: RequestBody): string | undefined {
  if (body.kind === 'form') return body.form.fields.model?.[0];
  if (body.kind !== 'json' || typeof body.value !== 'object' || body.value === null) return undefined;
  const { model } = body.value as { model?: unknown };
  return typeof model === 'string' ? model : undefined;
}
