/** The configuration that a running gateway uses, kept in its data directory so that `gateway check` can compare with it. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Registry } from '../plugin.ts';
import { type Configuration, type LoadResult, loadConfiguration, type Texts } from './load.ts';
import type { Environment } from './substitute.ts';

/** `folder` is where relative paths in the files begin. The texts are unexpanded: values of `${…}` are not in them. */
interface Active {
  readonly pid: number;
  readonly folder: string;
  readonly files: Texts;
}

const fileOf = (dataDirectory: string) => join(dataDirectory, 'active-configuration.json');

/** One file and one rename: a reader sees the old configuration or the new one, never a mixture. */
export async function writeActive(dataDirectory: string, folder: string, configuration: Configuration): Promise<void> {
  const { gateway, channels, models, routes } = configuration.sources;
  const active: Active = {
    pid: process.pid,
    folder: resolve(folder),
    files: { gateway: gateway.text, channels: channels.text, models: models.text, routes: routes.text },
  };
  const file = fileOf(dataDirectory);
  await writeFile(`${file}.new`, `${JSON.stringify(active, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Null where no gateway runs on this data directory. */
export async function readActive(
  dataDirectory: string,
  builtIns: Registry,
  environment?: Environment,
): Promise<LoadResult | null> {
  let text: string;
  try {
    text = await readFile(fileOf(dataDirectory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const { pid, folder, files } = JSON.parse(text) as Active;
  if (!isAlive(pid)) return null;
  return loadConfiguration(folder, builtIns, environment, files);
}

/** A gateway that was killed leaves its file behind. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export async function removeActive(dataDirectory: string): Promise<void> {
  await rm(fileOf(dataDirectory), { force: true });
}
