/** The engines that the contract suite runs over. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { ObjectsEngine } from '../../engine/objects/engine.ts';
import { openObjects } from '../../engine/objects/index.ts';
import type { FileServer } from '../../engine/objects/serve.ts';
import type { ObjectsSettings } from '../../engine/objects/settings.ts';
import { startSwift, swiftInstalled } from '../swift/start.ts';
import { listenForFiles } from './file-http.ts';
import { recordingLog } from './recording-log.ts';
import { makeBucket } from './s3-bucket.ts';

export interface OpenedEngine {
  readonly objects: ObjectsEngine;
  /** The keys of everything that is stored, finished or not. */
  stored(): Promise<string[]>;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** Why its tests cannot run here, or null. */
  readonly skipped: string | null;
  open(): Promise<OpenedEngine>;
}

const urlLifetime = 3_600_000;

async function openFolder(): Promise<OpenedEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'objects-'));
  let files: FileServer | null = null;
  const http = await listenForFiles(() => files!);
  const settings: ObjectsSettings = { engine: 'folder', urlLifetime, folder: { fsync: true } };
  const opened = await openObjects(settings, { folder, publicUrl: http.url, log: recordingLog() });
  files = opened.files;
  const close = async () => {
    await opened.objects.close();
    await http.close();
    await rm(folder, { recursive: true });
  };
  return { objects: opened.objects, stored: () => filesBelow(join(folder, 'objects')), close };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.path, entry.name)));
}

async function openSwift(): Promise<OpenedEngine> {
  const swift = await startSwift();
  const bucket = await makeBucket(swift);
  const settings: ObjectsSettings = { engine: 's3', urlLifetime, s3: { ...bucket.settings, prefix: 'gateway/' } };
  const { objects } = await openObjects(settings, { folder: '', publicUrl: '', log: recordingLog() });
  const stored = async () => (await bucket.keys()).map((key) => key.replace(/^gateway\//, ''));
  const close = async () => {
    await objects.close();
    bucket.close();
    await swift.stop();
  };
  return { objects, stored, close };
}

/** Says on the console what is left out, so that nobody takes a shorter run for a whole one. */
export function whyNoSwift(): string | null {
  if (swiftInstalled()) return null;
  console.warn(
    'SKIPPED: tests against a real S3 server, because swift-proxy-server is not installed (.ci/install-debian)',
  );
  return 'skipped: swift-proxy-server is not installed';
}

export const engines: readonly Engine[] = [
  { name: 'folder', skipped: null, open: openFolder },
  { name: 's3 (Swift)', skipped: whyNoSwift(), open: openSwift },
];
