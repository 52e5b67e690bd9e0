/** The door of the objects port: opens the engine that gateway.yaml chose. */
import { join } from 'node:path';
import type { Log } from '../contract/values.ts';
import type { ObjectsEngine } from './engine.ts';
import { openFolder } from './folder.ts';
import { loadSecrets } from './secret.ts';
import { createFileServer, type FileServer } from './serve.ts';
import type { ObjectsSettings } from './settings.ts';
import { ImageSweeper } from './sweep.ts';

export interface ObjectsPlace {
  /** The gateway's data folder; objects are below `objects/`, a generated secret is `url-secret`. */
  readonly folder: string;
  /** Under which URL clients reach the gateway; a function where the port is known only later. */
  readonly publicUrl: string | (() => string);
  readonly log: Log;
}

export interface OpenedObjects {
  readonly objects: ObjectsEngine;
  /** Serves `/files/…`; null where clients fetch from S3. */
  readonly files: FileServer | null;
}

/** Throws an Error with a sentence for the operator where the settings or the folder cannot work. */
export async function openObjects(settings: ObjectsSettings, place: ObjectsPlace): Promise<OpenedObjects> {
  if (settings.engine === 'folder') return openInFolder(settings, place);
  if (settings.s3 === undefined) throw new Error('objects.engine is s3, but objects.s3 is missing.');
  // The AWS SDK takes a third of a second to load: only who stores there pays for it.
  const { openS3 } = await import('./s3.ts');
  return { objects: openS3(settings.s3, settings.urlLifetime, place.log), files: null };
}

async function openInFolder(
  settings: ObjectsSettings,
  { folder, publicUrl, log }: ObjectsPlace,
): Promise<OpenedObjects> {
  const secrets = await loadSecrets(settings.secret, join(folder, 'url-secret'));
  const root = join(folder, 'objects');
  const { urlLifetime } = settings;
  const { fsync = false, retention = 0 } = settings.folder ?? {};
  const objects = await openFolder({ fsync, folder: root, publicUrl, secrets, urlLifetime });
  const files = createFileServer({ folder: root, secrets });
  if (retention === 0) return { objects, files };
  const sweeper = new ImageSweeper({ folder: root, retention, log });
  sweeper.start();
  return { objects: { ...objects, close: () => sweeper.close() }, files };
}
