/** gateway.yaml as the engine reads it: durations in ms, sizes in bytes, paths absolute. */
import { resolve } from 'node:path';
import type { GatewayFile } from '../../schemas/types/gateway.ts';
import type { Faults } from './collect.ts';
import type { SourceFile } from './read.ts';
import { duration, size } from './units.ts';

export interface S3Settings {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | null;
  readonly forcePathStyle: boolean;
  readonly checksums: 'when-required' | 'when-supported';
  /** Null: the SDK's own chain of credentials. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | null;
  } | null;
  readonly prefix: string;
}

export interface ObjectSettings {
  readonly engine: 'folder' | 's3';
  /** ms */
  readonly urlLifetime: number;
  /** Null: one is made and kept in the data directory. */
  readonly secret: string | null;
  /** As written: relative to the data directory. */
  readonly folder: { readonly directory: string };
  /** Not null where the engine is `s3`. */
  readonly s3: S3Settings | null;
}

export interface GatewaySettings {
  readonly listen: { readonly host: string; readonly port: number };
  /** Without a slash at its end; null: derived from `listen`. */
  readonly publicUrl: string | null;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly objects: ObjectSettings;
  readonly ledger: { readonly engine: 'sqlite'; readonly journal: { readonly sync: 'off' | 'batch' } };
  readonly counters: { readonly engine: 'memory' };
  readonly log: {
    readonly level: GatewayFile['log']['level'];
    readonly format: 'json' | 'pretty';
    readonly requests: boolean;
  };
  readonly headers: { readonly maximumBytes: number };
  /** ms */
  readonly body: { readonly receiveTimeout: number };
  /** ms */
  readonly drain: { readonly timeout: number };
  readonly metrics: { readonly enabled: boolean; readonly path: string };
}

function linkCredentials(s3: NonNullable<GatewayFile['objects']['s3']>): S3Settings['credentials'] {
  const { accessKeyId, secretAccessKey, sessionToken = null } = s3;
  return accessKeyId === undefined || secretAccessKey === undefined
    ? null
    : { accessKeyId, secretAccessKey, sessionToken };
}

function linkObjects(objects: GatewayFile['objects']): ObjectSettings {
  const { engine, urlLifetime, secret = null, folder, s3 } = objects;
  const shared = { engine, urlLifetime: duration(urlLifetime), secret, folder };
  if (s3 === undefined) return { ...shared, s3: null };
  const { bucket, region, endpoint = null, forcePathStyle, checksums, prefix } = s3;
  const credentials = linkCredentials(s3);
  return { ...shared, s3: { bucket, region, endpoint, forcePathStyle, checksums, prefix, credentials } };
}

function checkObjects(source: SourceFile, { engine, s3 }: GatewayFile['objects'], faults: Faults): void {
  if (engine === 's3' && s3 === undefined) {
    faults.add(source, ['objects', 'engine'], 'the engine s3 needs the settings objects.s3');
  }
  if (s3 !== undefined && (s3.accessKeyId === undefined) !== (s3.secretAccessKey === undefined)) {
    faults.add(source, ['objects', 's3'], 'accessKeyId and secretAccessKey go together', { at: 'key' });
  }
}

/** Links gateway.yaml; `folder` is where the file stands. */
export function linkSettings(source: SourceFile, folder: string, faults: Faults): GatewaySettings {
  const file = source.value as GatewayFile;
  checkObjects(source, file.objects, faults);
  return {
    listen: file.listen,
    publicUrl: file.publicUrl ?? null,
    dataDirectory: resolve(folder, file.dataDirectory),
    objects: linkObjects(file.objects),
    ledger: file.ledger,
    counters: file.counters,
    log: file.log,
    headers: { maximumBytes: size(file.headers.maximumBytes) },
    body: { receiveTimeout: duration(file.body.receiveTimeout) },
    drain: { timeout: duration(file.drain.timeout) },
    metrics: file.metrics,
  };
}
