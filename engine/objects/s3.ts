/** Objects in an S3 bucket, under the same keys as in a folder; clients read them by presigned URLs. */
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { ObjectToStore, StoredObject } from '../contract/ports.ts';
import type { Log } from '../contract/values.ts';
import { bounded } from './bounded.ts';
import type { ObjectsEngine } from './engine.ts';
import { exactly } from './exact.ts';
import { storageFailed } from './fault.ts';
import { isKey, keyFor } from './key.ts';
import { mediaTypeOf } from './media-types.ts';
import { createSigningClient, createStoringClient, defaultTimeout } from './s3-client.ts';
import { explainFault } from './s3-fault.ts';
import type { S3Settings } from './settings.ts';

/** Signature version 4 allows no more. */
const longestLifetime = 7 * 24 * 3_600_000;

interface Bucket {
  readonly settings: S3Settings;
  readonly client: S3Client;
  readonly signing: S3Client;
  readonly timeout: number;
}

/** `urlLifetime` in ms. Throws where the settings cannot work; does not connect (that is `check`). */
export function openS3(settings: S3Settings, urlLifetime: number, log: Log): ObjectsEngine {
  refuseUnusable(settings, urlLifetime);
  const client = createStoringClient(settings, log);
  const signing = createSigningClient(settings);
  const bucket: Bucket = { settings, client, signing, timeout: settings.timeout ?? defaultTimeout };
  return {
    put: (object) => put(bucket, object),
    sign: (key, lifetimeSeconds = urlLifetime / 1000) => sign(bucket, key, lifetimeSeconds),
    delete: (key) => remove(bucket, key),
    check: () => check(bucket),
    read: (key) => read(bucket, key),
    close: async () => {
      client.destroy();
      signing.destroy();
    },
  };
}

function refuseUnusable(settings: S3Settings, urlLifetime: number): void {
  for (const name of ['endpoint', 'publicEndpoint'] as const) {
    const url = settings[name];
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      throw new Error(`objects.s3.${name} is not an http or https URL.`);
    }
  }
  if ((settings.accessKeyId === undefined) !== (settings.secretAccessKey === undefined)) {
    throw new Error('objects.s3 needs both accessKeyId and secretAccessKey, or neither.');
  }
  if (urlLifetime > longestLifetime) throw new Error('objects.urlLifetime: URLs of S3 live at most 7 days.');
}

/** A Buffer is tried twice by the SDK; a stream once, because it cannot be read again. */
async function put(bucket: Bucket, object: ObjectToStore): Promise<StoredObject> {
  try {
    const key = keyFor(object);
    await bounded(bucket.timeout, (signal, abort) => send(bucket, key, object, signal, abort));
    return { key, length: object.length, contentType: mediaTypeOf(key).mediaType };
  } catch (error) {
    throw storageFailed(explainFault('PutObject', bucket.settings, error));
  } finally {
    if (!Buffer.isBuffer(object.body)) object.body.destroy();
  }
}

async function send(
  { settings, client }: Bucket,
  key: string,
  object: ObjectToStore,
  abortSignal: AbortSignal,
  abort: (reason: unknown) => void,
): Promise<void> {
  const { mediaType, disposition } = mediaTypeOf(key);
  const command = new PutObjectCommand({
    ...named(settings, key),
    Body: bodyOf(object, abort),
    ContentLength: object.length,
    ContentType: mediaType,
    ContentDisposition: disposition,
  });
  await client.send(command, { abortSignal });
}

/** S3 keeps nothing of a request that ends before its Content-Length, so a stream that fails just has to end it. */
function bodyOf({ body, length }: ObjectToStore, abort: (reason: unknown) => void): Buffer | Readable {
  if (!Buffer.isBuffer(body)) {
    return Readable.from(exactly(body, length), { objectMode: false }).on('error', abort);
  }
  if (body.length !== length) throw new Error(`The body has ${body.length} bytes instead of ${length}.`);
  return body;
}

async function sign({ settings, signing, timeout }: Bucket, key: string, lifetimeSeconds: number): Promise<string> {
  try {
    const command = new GetObjectCommand(named(settings, key));
    const expiresIn = Math.ceil(lifetimeSeconds);
    return await bounded(timeout, () => getSignedUrl(signing, command, { expiresIn }));
  } catch (error) {
    throw storageFailed(explainFault('presigning', settings, error));
  }
}

async function read({ settings, client, timeout }: Bucket, key: string): Promise<Readable> {
  try {
    const command = new GetObjectCommand(named(settings, key));
    const { Body: body } = await bounded(timeout, (abortSignal) => client.send(command, { abortSignal }));
    if (body instanceof Readable) return body;
    throw new Error('the object has no body');
  } catch (error) {
    throw storageFailed(explainFault('GetObject', settings, error));
  }
}

async function remove({ settings, client, timeout }: Bucket, key: string): Promise<void> {
  try {
    const command = new DeleteObjectCommand(named(settings, key));
    await bounded(timeout, (abortSignal) => client.send(command, { abortSignal }));
  } catch (error) {
    throw storageFailed(explainFault('DeleteObject', settings, error));
  }
}

async function check({ settings, client, timeout }: Bucket): Promise<void> {
  try {
    const command = new HeadBucketCommand({ Bucket: settings.bucket });
    await bounded(timeout, (abortSignal) => client.send(command, { abortSignal }));
  } catch (error) {
    throw explainFault('HeadBucket', settings, error);
  }
}

function named({ bucket, prefix = '' }: S3Settings, key: string): { Bucket: string; Key: string } {
  if (!isKey(key)) throw new TypeError(`${JSON.stringify(key)} is not the key of an object.`);
  return { Bucket: bucket, Key: `${prefix}${key}` };
}
