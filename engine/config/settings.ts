/** gateway.yaml as the engine reads it: durations in ms, sizes in bytes, paths absolute. */
import { resolve } from 'node:path';
import type { GatewayFile } from '../../schemas/types/gateway.ts';
import type { ObjectsSettings } from '../objects/settings.ts';
import type { VideoSettings } from '../tasks/settings.ts';
import type { Faults } from './collect.ts';
import type { SourceFile } from './read.ts';
import { duration, size } from './units.ts';

export interface GatewaySettings {
  readonly listen: { readonly host: string; readonly port: number };
  /** Without a slash at its end; null: derived from `listen`. */
  readonly publicUrl: string | null;
  /** Absolute. */
  readonly dataDirectory: string;
  /** `s3` is there where the engine is `s3`. */
  readonly objects: ObjectsSettings;
  readonly ledger: { readonly engine: 'sqlite'; readonly journal: { readonly sync: 'off' | 'interval' | 'batch' } };
  /** ms, 0: off; bytes */
  readonly responses: { readonly keep: number; readonly maximumSize: number };
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
  readonly videos: VideoSettings;
  /** ms; bytes */
  readonly realtime: { readonly idleTimeout: number; readonly pingTimeout: number; readonly bufferLimit: number };
  readonly metrics: { readonly enabled: boolean; readonly path: string; readonly token?: string };
}

function linkObjects({ urlLifetime, folder, s3, ...others }: GatewayFile['objects']): ObjectsSettings {
  const objects = {
    ...others,
    urlLifetime: duration(urlLifetime),
    folder: { ...folder, retention: durationOrOff(folder.retention) },
  };
  return s3 === undefined ? objects : { ...objects, s3: { ...s3, timeout: duration(s3.timeout) } };
}

function linkVideos(videos: GatewayFile['videos']): VideoSettings {
  const { concurrency, storeAttempts, openPerKey } = videos;
  return {
    pollInterval: duration(videos.pollInterval),
    deadline: duration(videos.deadline),
    lease: duration(videos.lease),
    channelGrace: duration(videos.channelGrace),
    downloadTimeout: duration(videos.downloadTimeout),
    maximumBytes: size(videos.maximumBytes),
    concurrency,
    storeAttempts,
    openPerKey,
    retention: durationOrOff(videos.retention),
  };
}

function checkObjects(
  source: SourceFile,
  { engine, urlLifetime, folder, s3 }: GatewayFile['objects'],
  faults: Faults,
): void {
  const retention = durationOrOff(folder.retention);
  if (retention > 0 && retention < duration(urlLifetime))
    faults.add(source, ['objects', 'folder', 'retention'], 'an image must be kept at least as long as its URL works');
  if (engine === 's3' && s3 === undefined) {
    faults.add(source, ['objects', 'engine'], 'the engine s3 needs the settings objects.s3');
  }
  if (s3 !== undefined && (s3.accessKeyId === undefined) !== (s3.secretAccessKey === undefined)) {
    faults.add(source, ['objects', 's3'], 'accessKeyId and secretAccessKey go together', { at: 'key' });
  }
}

/** 0 where it is off. */
const durationOrOff = (text: string | number): number =>
  typeof text === 'number' || text === 'off' ? 0 : duration(text);

const linkRealtime = ({ idleTimeout, pingTimeout, bufferLimit }: GatewayFile['realtime']) => ({
  idleTimeout: duration(idleTimeout),
  pingTimeout: duration(pingTimeout),
  bufferLimit: size(bufferLimit),
});

/** Hardly any client sends less, and a server that reads more could be filled with headers alone. */
const headerBounds = { least: size('1kb'), most: size('1mb') };

function checkHeaders(source: SourceFile, { maximumBytes }: GatewayFile['headers'], faults: Faults): void {
  const bytes = size(maximumBytes);
  if (bytes < headerBounds.least || bytes > headerBounds.most)
    faults.add(source, ['headers', 'maximumBytes'], 'must be a size from 1kb to 1mb');
}

/** Links gateway.yaml; `folder` is where the file stands. */
export function linkSettings(source: SourceFile, folder: string, faults: Faults): GatewaySettings {
  const file = source.value as GatewayFile;
  checkObjects(source, file.objects, faults);
  checkHeaders(source, file.headers, faults);
  return {
    listen: file.listen,
    publicUrl: file.publicUrl ?? null,
    dataDirectory: resolve(folder, file.dataDirectory),
    objects: linkObjects(file.objects),
    ledger: file.ledger,
    responses: { keep: durationOrOff(file.responses.keep), maximumSize: size(file.responses.maximumSize) },
    counters: file.counters,
    log: file.log,
    headers: { maximumBytes: size(file.headers.maximumBytes) },
    body: { receiveTimeout: duration(file.body.receiveTimeout) },
    drain: { timeout: duration(file.drain.timeout) },
    videos: linkVideos(file.videos),
    realtime: linkRealtime(file.realtime),
    metrics: file.metrics,
  };
}
